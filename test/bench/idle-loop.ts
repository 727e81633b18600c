import { parentPort } from 'node:worker_threads'

/** A loop with nothing to do but to look at the clock: what holds it is the machine, not the server. */
let stallMs = 0
let lastMs = performance.now()
setInterval(() => {
  const nowMs = performance.now()
  stallMs = Math.max(stallMs, nowMs - lastMs)
  lastMs = nowMs
}, 1)
parentPort!.on('message', () => {
  parentPort!.postMessage(stallMs)
  stallMs = 0
})
