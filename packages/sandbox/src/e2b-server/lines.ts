/** Longer ones are cut: whatever runs in a sandbox may print without an end, and must not fill our memory. */
const lineCharsMax = 64 << 10

/** The lines of a program's output. */
export async function* linesOf(source: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of source) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
    rest = (lines.pop() ?? '').slice(0, lineCharsMax)
    for (const line of lines) yield line.slice(0, lineCharsMax)
  }
  if (rest !== '') yield rest
}
