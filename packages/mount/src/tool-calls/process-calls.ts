import { closeSync, openSync, readFileSync, readSync } from 'node:fs'
import { isToolCall } from '@cairn/protocol'

/** Each has an open descriptor. */
const processesMax = 64

interface KnownProcess {
  /** Of its environment. It gives nothing any more once the process has ended or runs another program. */
  readonly fd: number
  readonly toolCall: string | undefined
}

/**
 * The variable CAIRN_TOOL_CALL of processes, as it was when each began its program. The environment is read once for each
 * program. The kernel gives a number to another process later, so each time one byte is read from the same descriptor:
 * that takes 2 µs and is never of another program.
 */
export class ProcessCalls {
  readonly #proc: string
  readonly #known = new Map<number, KnownProcess>()
  readonly #byte = Buffer.alloc(1)

  /** `proc` is the one in which the kernel's numbers are those of the mount's callers. */
  constructor(proc = '/proc') {
    this.#proc = proc
  }

  of(pid: number): string | undefined {
    // The kernel itself, or a process that cannot be seen from here.
    if (pid === 0) return undefined
    const known = this.#known.get(pid)
    if (known && this.#isSame(known)) return known.toolCall
    this.#forget(pid)
    return this.#look(pid)
  }

  close(): void {
    for (const pid of this.#known.keys()) this.#forget(pid)
  }

  #isSame({ fd }: KnownProcess): boolean {
    return readSync(fd, this.#byte, 0, 1, 0) === 1
  }

  /** A process that ends meanwhile, or belongs to another user, names no call. */
  #look(pid: number): string | undefined {
    let fd: number | undefined
    try {
      fd = openSync(`${this.#proc}/${pid}/environ`, 'r')
      const toolCall = callIn(readFileSync(fd, 'latin1'))
      this.#keep(pid, { fd, toolCall })
      return toolCall
    } catch {
      if (fd !== undefined) closeSync(fd)
      return undefined
    }
  }

  #keep(pid: number, process: KnownProcess): void {
    this.#known.set(pid, process)
    const [oldest] = this.#known.keys()
    if (this.#known.size > processesMax) this.#forget(oldest!)
  }

  #forget(pid: number): void {
    const known = this.#known.get(pid)
    if (known) closeSync(known.fd)
    this.#known.delete(pid)
  }
}

const assignment = 'CAIRN_TOOL_CALL='

/** Anything else than a call's id is none. */
function callIn(environment: string): string | undefined {
  const line = environment.split('\0').find((each) => each.startsWith(assignment))
  const value = line?.slice(assignment.length)
  return isToolCall(value) ? value : undefined
}
