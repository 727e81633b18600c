import { parentPort, workerData } from 'node:worker_threads'
import { startPausingProxy } from '../sandbox/pausing-proxy.ts'

/** Told how often, it cuts; told 0, it lets everything through and says how many connections it has cut. */
const proxy = await startPausingProxy(workerData as string)
let timer: NodeJS.Timeout | undefined
let cuts = 0
parentPort!.on('message', (everyMs: number) => {
  clearInterval(timer)
  if (everyMs > 0) timer = setInterval(() => (cuts += proxy.cut()), everyMs)
  else parentPort!.postMessage(cuts)
})
parentPort!.postMessage(proxy.url)
