import { isCairnError } from '@cairn/protocol'
import { expect, it } from 'vitest'
import { readJson } from './json-body.ts'

const mib = 1 << 20

async function* bodyOf(bytes: number): AsyncGenerator<Uint8Array> {
  const text = Buffer.from(`"${'x'.repeat(bytes - 2)}"`)
  for (let at = 0; at < text.length; at += mib) yield text.subarray(at, at + mib)
}

it('large bodies are refused while those under way have 128 MiB, and small ones are not', async () => {
  const releases: (() => void)[] = []
  const read = (bytes: number): Promise<string> =>
    readJson(bodyOf(bytes), (release) => releases.push(release)).then(
      () => 'taken',
      (error: unknown) => (isCairnError(error) ? error.code : String(error)),
    )
  for (let at = 0; at < 16; at++) expect(await read(8 * mib)).toBe('taken')
  expect(await read(mib)).toBe('too_many_requests')
  expect(await read(1000)).toBe('taken')
  for (const release of releases.splice(0)) release()
  expect(await read(8 * mib)).toBe('taken')
  for (const release of releases) release()
})
