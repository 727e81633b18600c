import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

export interface Timed {
  readonly seconds: number
  /** The time of the command and what it started, and of the server. */
  readonly cpuSeconds: number
}

/** Runs commands and tells how long they take, also on a machine that does other things. */
export class Stopwatch {
  readonly #serverPid: number
  readonly #env: NodeJS.ProcessEnv

  constructor(serverPid: number, env: NodeJS.ProcessEnv) {
    this.#serverPid = serverPid
    this.#env = env
  }

  run(command: string, args: readonly string[], cwd: string): Timed {
    const before = this.#serverCpu()
    const begin = performance.now()
    const output = execFileSync(
      'bash',
      ['-ec', '"$@" >/dev/null; times', 'bash', command, ...args],
      {
        cwd,
        env: this.#env,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    const seconds = (performance.now() - begin) / 1000
    return { seconds, cpuSeconds: cpuOf(output) + this.#serverCpu() - before }
  }

  #serverCpu(): number {
    const stat = readFileSync(`/proc/${this.#serverPid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const ticksPerSecond = 100
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / ticksPerSecond
  }
}

/** From the last line of `times`: user and system time of the children. */
function cpuOf(output: string): number {
  const times = output.trim().split('\n').at(-1)!.split(' ')
  return times.reduce((sum, time) => {
    const [, minutes, seconds] = /^(\d+)m([\d.]+)s$/.exec(time)!
    return sum + Number(minutes) * 60 + Number(seconds)
  }, 0)
}
