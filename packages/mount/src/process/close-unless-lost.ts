import { existsSync } from 'node:fs'
import type { MountStatus } from '../mount-status.ts'

interface ClosingMount {
  readonly status: Pick<MountStatus, 'connected' | 'pendingOps' | 'pendingBytes'>
  close(): Promise<void>
  abandon(): void
}

interface Watch {
  /** Resolves after about that long. */
  readonly sleep: (ms: number) => Promise<unknown>
  readonly print: (line: string) => void
}

const lookMs = 1000
/** So often in a row, neither the server nor the cache directory was there. */
const looksMax = 30

/**
 * Brings the rest of an unmounted mount to the server, however long that takes. But where both the server and the
 * cache directory are gone, the rest is useless: then this logs what is lost, and ends.
 */
export async function closeUnlessLost(
  mount: ClosingMount,
  cacheDirectory: string,
  { sleep, print }: Watch = {
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms).unref()),
    print: (line) => console.error(line),
  },
): Promise<void> {
  let isClosed = false
  const closing = mount.close().finally(() => (isClosed = true))
  const lost = (async () => {
    for (let looks = 0; looks < looksMax && !isClosed;) {
      await sleep(lookMs)
      const isGone = !mount.status.connected && !existsSync(cacheDirectory)
      looks = isGone ? looks + 1 : 0
    }
    if (isClosed) return
    const { pendingOps, pendingBytes } = mount.status
    print(
      `${new Date().toISOString()} the server and ${cacheDirectory} are gone: ` +
        `${pendingOps} operations (${pendingBytes} bytes) that programs were told of are lost`,
    )
    mount.abandon()
  })()
  await Promise.race([closing, lost])
}
