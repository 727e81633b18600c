import { serve } from '@cairn/server'

/** The server in a process of its own, as it is in life: `server-child.ts DATA`. Tells its address to its parent. */
const { url, ownerKey, close } = await serve({ data: process.argv[2]!, listen: '127.0.0.1:0' })
let heldMs = 0
let before = process.threadCpuUsage()
// By the time this thread was busy, not by the clock: on a loaded machine the clock would measure the others.
setInterval(() => {
  const { user, system } = process.threadCpuUsage(before)
  before = process.threadCpuUsage()
  heldMs = Math.max(heldMs, (user + system) / 1000)
}, 1).unref()
process.send!({ url, ownerKey })
process.on('message', (message) => {
  if (message === 'memory') {
    globalThis.gc?.()
    process.send!(process.memoryUsage())
  } else if (message === 'delay') {
    // The longest time for which no timer ran, since this was last asked.
    process.send!(heldMs)
    heldMs = 0
  } else void close().then(() => process.disconnect())
})
