import { writeFileSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'

const { directory, prefix, files } = workerData as {
  directory: string
  prefix: string
  files: number
}

const text = Buffer.alloc(4096, 'x')
const times = Array.from({ length: files }, (_, n) => {
  const begin = performance.now()
  writeFileSync(`${directory}/${prefix}-${n}`, text)
  return performance.now() - begin
})
parentPort!.postMessage(times)
