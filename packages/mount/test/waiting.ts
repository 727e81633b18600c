/** Settles when `isSo` becomes true; the test's own time limit ends the waiting. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 1))
}

/** A promise that the test settles. */
export interface Gate {
  readonly opened: Promise<void>
  readonly open: () => void
}

export function makeGate(): Gate {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { opened: promise, open: resolve }
}
