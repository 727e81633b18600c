import type { OpenAnswer } from './answer.ts'

/**
 * The lines of an answer, as they come. A line ends with CR, LF or both; what follows the last end is not a line,
 * because the connection may have been cut there.
 */
export async function* readLines(answer: OpenAnswer): AsyncGenerator<string> {
  // Event streams may begin with a byte-order mark, which the decoder takes away.
  const decoder = new TextDecoder()
  let rest = ''
  for (let chunk = await answer.next(); chunk !== undefined; chunk = await answer.next()) {
    rest += decoder.decode(chunk, { stream: true })
    // A CR at the very end may be half of an end.
    const parts = rest.split(/\r\n|\n|\r(?!$)/)
    rest = parts.pop() ?? ''
    yield* parts
  }
  if (rest.endsWith('\r')) yield rest.slice(0, -1)
}
