/** An answer whose body is still on its way. `cancel` it, or read it to its end. */
export interface OpenAnswer {
  readonly response: Response
  /** The next piece; undefined at the end. Rejects with a CairnError, or the caller's abort reason. */
  next(): Promise<Uint8Array | undefined>
  cancel(): void
}

/** `Uint8Array<ArrayBuffer>`, spelled so that TypeScript before 5.7 reads it, too: there it is `Uint8Array`. */
export type PlainBytes = ReturnType<typeof Uint8Array.of>

/** The rest of an answer, in one piece. */
export async function collect(answer: Pick<OpenAnswer, 'next'>): Promise<PlainBytes> {
  const chunks: Uint8Array[] = []
  let length = 0
  for (let chunk = await answer.next(); chunk !== undefined; chunk = await answer.next()) {
    chunks.push(chunk)
    length += chunk.length
  }
  const whole = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}

/** The rest of an answer, as it comes. */
export async function* bytesOf(answer: OpenAnswer): AsyncGenerator<Uint8Array> {
  try {
    for (let chunk = await answer.next(); chunk; chunk = await answer.next()) yield chunk
  } finally {
    answer.cancel()
  }
}
