import type { Files } from '@cairn/sdk'
import type { Moving } from './tree.ts'

const pieceBytes = 8 << 20

/** Adds what comes to the end of a file. Each piece of 8 MiB is added in one step, all of them in several. */
export async function appendAll(
  files: Files,
  path: string,
  chunks: AsyncIterable<Uint8Array>,
  { signal, onBytes }: Moving,
): Promise<void> {
  let waiting: Uint8Array[] = []
  let bytes = 0
  const send = async (): Promise<void> => {
    await files.append(path, Buffer.concat(waiting), { signal })
    onBytes(bytes)
    waiting = []
    bytes = 0
  }
  let isFirst = true
  for await (const chunk of chunks) {
    signal.throwIfAborted()
    waiting.push(chunk)
    bytes += chunk.length
    if (bytes < pieceBytes) continue
    await send()
    isFirst = false
  }
  // Also when there is nothing to add: then the file is made.
  if (bytes > 0 || isFirst) await send()
}
