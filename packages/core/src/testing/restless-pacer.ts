import type { Pacer } from '../ports/pacer.ts'

/**
 * Rests at every third occasion, so that whatever else is under way comes in between. By microtasks alone: the order of
 * things then depends on the test, not on the machine.
 */
export function restlessPacer(): Pacer {
  let asked = 0
  return {
    isDue: () => ++asked % 3 === 0,
    rest: async () => {
      for (let hops = 0; hops < 20; hops++) await Promise.resolve()
    },
  }
}
