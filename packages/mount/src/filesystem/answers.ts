import type { Answer } from '../fuse/file-system.ts'
import type { Loader } from '../image/loader.ts'
import { ImageMiss } from '../image/miss.ts'
import { OutOfContact } from '../session/contact.ts'

/** What is known at once is answered at once: a promise costs a turn of the loop. */
export function andThen<T, U>(answer: Answer<T>, next: (value: T) => Answer<U>): Answer<U> {
  return answer instanceof Promise ? answer.then(next) : next(answer)
}

/** Asks again when what was missing has been loaded, or the server has been heard again. */
export function whenLoaded<T>(loader: Loader, ask: () => Answer<T>): Answer<T> {
  try {
    const answer = ask()
    return answer instanceof Promise
      ? answer.catch((error) => loadAndAsk(loader, error, ask))
      : answer
  } catch (error) {
    if (!(error instanceof ImageMiss || error instanceof OutOfContact)) throw error
    return loadAndAsk(loader, error, ask)
  }
}

async function loadAndAsk<T>(loader: Loader, error: unknown, ask: () => Answer<T>): Promise<T> {
  if (error instanceof OutOfContact) await error.isOver
  else if (error instanceof ImageMiss) await loader.load(error)
  else throw error
  return whenLoaded(loader, ask)
}
