/** Tells a person what happens, with the time each step took. */
export interface Steps {
  /** Runs a step, then says what came of it. */
  run<T>(name: string, work: () => Promise<T>, tell: (result: T) => string): Promise<T>
  /** Something between the steps. */
  say(text: string): void
}

const nameWidth = 11

export function printSteps(print: (line: string) => void = console.log): Steps {
  return {
    async run(name, work, tell) {
      const start = performance.now()
      const result = await work()
      const seconds = ((performance.now() - start) / 1000).toFixed(2)
      print(`${seconds.padStart(7)} s  ${name.padEnd(nameWidth)} ${tell(result)}`)
      return result
    },
    say: print,
  }
}
