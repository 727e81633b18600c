import { parentPort, workerData } from 'node:worker_threads'
import { startPausingProxy } from '../sandbox/pausing-proxy.ts'

let timer: NodeJS.Timeout | undefined
let cuts = 0
/**
 * Cuts in the middle of what is sent: in turn it is lost, or it arrives and its answer is lost. A
 * connection may carry more each time: otherwise a client with much to send again would never get
 * it through.
 */
let [pieces, piecesMax] = [0, 10]

const proxy = await startPausingProxy(workerData as string, () => {
  if (!timer || ++pieces < piecesMax) return
  pieces = 0
  piecesMax *= 2
  if (cuts % 2 === 0) cut()
  else setImmediate(cut)
})

function cut(): void {
  cuts += proxy.cut()
}

/** Told how often, it cuts, and also when much was sent and no answer came yet; told 0, it lets everything through. */
parentPort!.on('message', (everyMs: number | 'count') => {
  if (everyMs === 'count') return parentPort!.postMessage(cuts)
  clearInterval(timer)
  timer = everyMs > 0 ? setInterval(cut, everyMs) : undefined
})
parentPort!.postMessage(proxy.url)
