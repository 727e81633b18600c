import { parentPort, workerData } from 'node:worker_threads'
import { Agent, request } from 'node:http'

/**
 * The other client: small reads and writes of one workspace, one after another, each timed. In a thread of its own, so
 * that what the benchmark itself does is not measured.
 */
const { url, key } = workerData as { url: string; key: string }
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
let times: number[] = []
let isAsked = false

// Answered when the request under way has ended: it may be the one that waits.
parentPort!.on('message', () => (isAsked = true))

for (let i = 0; ; i++) {
  const begin = performance.now()
  await ask(i % 2 === 0 ? 'GET' : 'PUT')
  times.push(performance.now() - begin)
  if (isAsked) {
    parentPort!.postMessage(times)
    isAsked = false
    times = []
  }
  await new Promise((resolve) => setTimeout(resolve, 2))
}

function ask(method: 'GET' | 'PUT'): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}` }
    const asked = request(url, { method, headers, agent }, (answer) => {
      answer.resume()
      answer.once('end', () => {
        if ((answer.statusCode ?? 500) < 300) resolve()
        else reject(new Error(`the other client got ${answer.statusCode}`))
      })
    })
    asked.once('error', reject)
    asked.end(method === 'PUT' ? 'small' : undefined)
  })
}
