import { execFile } from 'node:child_process'

const patienceMs = 2000

/**
 * "Transport endpoint is not connected": its processes are gone. A mount that does not answer in time counts as alive.
 * Another process asks, because a thread of this one that waits in a mount may keep it from ever ending.
 */
export function isDead(mountPoint: string): Promise<boolean> {
  return new Promise((resolve) => {
    const env = { ...process.env, LC_ALL: 'C' }
    const asking = execFile('stat', ['--', mountPoint], { env }, (_error, _stdout, stderr) =>
      resolve(stderr.includes('not connected')),
    )
    setTimeout(() => {
      for (const stream of [asking.stdout, asking.stderr]) stream?.destroy()
      asking.unref()
      resolve(false)
    }, patienceMs).unref()
  })
}
