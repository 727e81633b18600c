import { writeFileSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'

const { directory, prefix, files, barrier } = workerData as {
  directory: string
  prefix: string
  files: number
  /** How many writers are not ready yet. */
  barrier: Int32Array
}

const text = Buffer.alloc(4096, 'x')
// Together: a writer that begins alone would hold the directory for itself.
if (Atomics.sub(barrier, 0, 1) === 1) Atomics.notify(barrier, 0)
for (let left = Atomics.load(barrier, 0); left > 0; left = Atomics.load(barrier, 0))
  Atomics.wait(barrier, 0, left)
const times = Array.from({ length: files }, (_, n) => {
  const begin = performance.now()
  writeFileSync(`${directory}/${prefix}-${n}`, text)
  return performance.now() - begin
})
parentPort!.postMessage(times)
