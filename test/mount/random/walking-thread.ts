import { parentPort, workerData } from 'node:worker_threads'
import type { Walk } from './walk.ts'
import { Walker } from './walker.ts'

const { directory, steps, together } = workerData as Walk
const walker = new Walker(directory)

/** Waits for everybody's turn to begin. */
function meet(turn: number): void {
  if (!together) return
  const arrived = new Int32Array(together.arrived)
  const goal = (turn + 1) * together.count
  if (Atomics.add(arrived, 0, 1) + 1 === goal) Atomics.notify(arrived, 0)
  for (let seen; (seen = Atomics.load(arrived, 0)) < goal;) Atomics.wait(arrived, 0, seen)
}

const answers = steps.map((step, turn) => {
  meet(turn)
  return walker.take(step)
})
walker.close()
parentPort!.postMessage(answers)
