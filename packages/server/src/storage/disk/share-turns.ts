/**
 * Work on a thing that covers all that was done before it began, such as a sync. Callers that come while it is under way
 * wait for the next turn, and share that one.
 */
export function shareTurns<Thing>(
  work: (thing: Thing) => Promise<void>,
): (thing: Thing) => Promise<void> {
  const running = new Map<Thing, Promise<void>>()
  const waiting = new Map<Thing, Promise<void>>()
  const begin = (thing: Thing): Promise<void> => {
    const turn = work(thing).finally(() => {
      if (running.get(thing) === turn) running.delete(thing)
    })
    running.set(thing, turn)
    return turn
  }
  return (thing) => {
    const current = running.get(thing)
    if (!current) return begin(thing)
    let next = waiting.get(thing)
    if (!next) {
      next = current
        .catch(() => undefined)
        .then(() => {
          waiting.delete(thing)
          return begin(thing)
        })
      waiting.set(thing, next)
    }
    return next
  }
}
