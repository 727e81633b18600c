import { makeRandom } from './make-bytes.ts'
import type { Around } from './world.ts'

/** Lets others go first for a number of turns that looks like chance and is the same for the same seed. */
export type Wait = () => Promise<void>

export function makeWait(seed: number, turnsMax: number): Wait {
  const random = makeRandom(seed)
  return async () => {
    for (let left = Math.floor(random() * (turnsMax + 1)); left > 0; left--) await Promise.resolve()
  }
}

/** A store whose every answer takes its time: before it happens, and before the caller learns of it. */
function slowDown<Store extends object>(store: Store, wait: Wait): Store {
  return new Proxy(store, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key)
      if (typeof member !== 'function') return member
      return async (...args: readonly unknown[]): Promise<unknown> => {
        await wait()
        const answer: unknown = await Reflect.apply(member, target, args)
        await wait()
        return answer
      }
    },
  })
}

/** Folding, which stores much, takes longer than the log, which others wait for. */
export function slowStores(seed: number): Around {
  const waitForTree = makeWait(seed, 60)
  const waitForLog = makeWait(seed + 1, 15)
  return ({ nodes, blobs, log, refs }) => ({
    nodes: slowDown(nodes, waitForTree),
    blobs: slowDown(blobs, waitForTree),
    log: slowDown(log, waitForLog),
    refs: slowDown(refs, waitForLog),
  })
}
