import { Misses } from './node-miss.ts'

/**
 * Long work that reads synchronously: it yields after each step. `Nodes.readSteps` runs it and lets others have their
 * turn in between, so what it reads must not change meanwhile: a snapshot, or a branch in its queue.
 */
export type Steps<T> = Generator<undefined, T, unknown>

/** Takes a step for each item. What the steps miss is thrown together, at the end. */
export function* takeSteps<T>(
  items: Iterable<T>,
  step: (item: T) => void | Steps<void>,
): Steps<void> {
  const misses = new Misses()
  for (const item of items) {
    try {
      const more = step(item)
      if (more) yield* more
    } catch (error) {
      misses.note(error)
    }
    yield
  }
  misses.end()
}

/** For a function that may be short, and then returns its result at once. */
export function* inSteps<T>(result: T | Steps<T>): Steps<T> {
  return isSteps(result) ? yield* result : result
}

/** For work that is known to be short, where nothing may come in between. */
export function runAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

function isSteps<T>(result: T | Steps<T>): result is Steps<T> {
  return Object.prototype.toString.call(result) === '[object Generator]'
}
