import { PerformanceObserver } from 'node:perf_hooks'
import { serve } from '@cairn/server'
import { HeldTurns } from './held-turns.ts'

/** The server in a process of its own, as it is in life: `server-child.ts DATA`. Tells its address to its parent. */
const { url, ownerKey, close } = await serve({ data: process.argv[2]!, listen: '127.0.0.1:0' })
const turns = new HeldTurns()
const observer = new PerformanceObserver((list) => turns.addPauses(list.getEntries()))
observer.observe({ entryTypes: ['gc'] })
let before = process.threadCpuUsage()
let beforeMs = performance.now()
// By the time this thread was busy, not by the clock: on a loaded machine the clock would measure the others.
setInterval(() => {
  const { user, system } = process.threadCpuUsage(before)
  const nowMs = performance.now()
  turns.add({ beginMs: beforeMs, endMs: nowMs, cpuMs: (user + system) / 1000 })
  before = process.threadCpuUsage()
  beforeMs = nowMs
}, 1).unref()
process.send!({ url, ownerKey })
process.on('message', (message) => {
  if (message === 'memory') {
    globalThis.gc?.()
    process.send!(process.memoryUsage())
  } else if (message === 'delay') {
    turns.addPauses(observer.takeRecords())
    process.send!(turns.take())
  } else void close().then(() => process.disconnect())
})
