import { Worker } from 'node:worker_threads'
import type { Step } from './step.ts'

/** Steps that are taken in a directory. */
export interface Walk {
  readonly directory: string
  readonly steps: readonly Step[]
  /** Each step at the moment at which the others take theirs. */
  readonly together?: { readonly arrived: SharedArrayBuffer; readonly count: number }
}

/**
 * Takes them in a thread of its own, as a program would: a call that waits in a mount blocks no
 * other.
 */
export function walk(one: Walk): Promise<unknown[]> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(new URL('walking-thread.ts', import.meta.url), { workerData: one })
    thread.once('message', resolve)
    thread.once('error', reject)
  })
}

/** Each of them takes its first step at the same moment, then its second, and so on. Gives the answers turn by turn. */
export async function walkTogether(
  walks: readonly Omit<Walk, 'together'>[],
): Promise<readonly (readonly unknown[])[]> {
  const together = { arrived: new SharedArrayBuffer(4), count: walks.length }
  const answers = await Promise.all(walks.map((one) => walk({ ...one, together })))
  return walks[0]!.steps.map((_, turn) => answers.map((each) => each[turn]))
}
