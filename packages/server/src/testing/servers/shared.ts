/**
 * What the test files of a run share, because it takes long to start. test/shared makes each part when a file
 * first asks for it. Gives undefined where the tests run without it.
 */
export async function askShared<T>(part: string): Promise<T | undefined> {
  const url = process.env['CAIRN_TEST_SHARED']
  if (url === undefined) return undefined
  const response = await fetch(new URL(part, url))
  if (!response.ok) throw new Error(`cannot share ${part}: ${await response.text()}`)
  return (await response.json()) as T
}
