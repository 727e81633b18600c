import { serve } from '@cairn/server'

/** The server in a process of its own, as it is in life: `server-child.ts DATA`. Tells its address to its parent. */
const { url, ownerKey, close } = await serve({ data: process.argv[2]!, listen: '127.0.0.1:0' })
process.send!({ url, ownerKey })
process.on('message', (message) => {
  if (message === 'memory') {
    globalThis.gc?.()
    process.send!(process.memoryUsage())
  } else void close().then(() => process.disconnect())
})
