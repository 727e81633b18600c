const gatheredBytes = 256 << 10

/**
 * The same bytes in chunks of a good size. A tar archive of small files comes in pieces of some hundred bytes, and each chunk
 * costs both ends of the connection more than its bytes do. What is yielded stays as it is.
 */
export async function* gatherChunks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let room = new Uint8Array(gatheredBytes)
  let filled = 0
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length;) {
      const count = Math.min(chunk.length - at, gatheredBytes - filled)
      room.set(chunk.subarray(at, at + count), filled)
      at += count
      filled += count
      if (filled < gatheredBytes) continue
      yield room
      room = new Uint8Array(gatheredBytes)
      filled = 0
    }
  }
  if (filled > 0) yield room.subarray(0, filled)
}
