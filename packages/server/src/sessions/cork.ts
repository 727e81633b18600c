import type { Socket } from 'node:net'

/** What is sent in one turn goes out with one call of the kernel, which is most of what a small message costs. */
export function corkForTurn(raw: Socket): void {
  if (raw.writableCorked > 0) return
  raw.cork()
  process.nextTick(() => raw.uncork())
}
