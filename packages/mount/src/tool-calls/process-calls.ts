import { closeSync, openSync, readSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { isToolCall } from '@cairn/protocol'
import type { Answer } from '../fuse/file-system.ts'

/** Each has an open descriptor. */
const processesMax = 64
/** A program whose environment takes longer to read names no call for this change. */
const patienceMs = 1000

interface KnownProcess {
  /** A descriptor of `/proc/PID/stat`: it gives nothing any more once the process has ended. */
  readonly fd: number
  readonly print: string
  readonly toolCall: string | undefined
}

/**
 * The variable CAIRN_TOOL_CALL of processes, as it was when each began its program. The environment is read once for each
 * program, and its `stat` for each change: when the process began, and where its environment lies, which differs for each
 * program.
 *
 * The thread that answers the kernel never reads an environment. To read it, the kernel takes a lock of the process's
 * memory, and another thread of that process may hold it while it waits for this very mount: a `mmap` over pages that
 * must be written first waits so. `stat` takes no such lock. Environments are read one at a time, because a blocked read
 * occupies one of Node's few threads for files.
 */
export class ProcessCalls {
  readonly #proc: string
  readonly #known = new Map<number, KnownProcess>()
  readonly #buffer = Buffer.alloc(2048)
  #reading: Promise<unknown> = Promise.resolve()

  /** `proc` is the one in which the kernel's numbers are those of the mount's callers. */
  constructor(proc = '/proc') {
    this.#proc = proc
  }

  of(pid: number): Answer<string | undefined> {
    // The kernel itself, or a process that cannot be seen from here.
    if (pid === 0) return undefined
    const known = this.#known.get(pid)
    if (known && this.#printOf(known.fd) === known.print) return known.toolCall
    this.#forget(pid)
    const read = this.#reading.then(() => this.#look(pid))
    this.#reading = read
    return Promise.race([read, afterPatience()])
  }

  close(): void {
    for (const pid of this.#known.keys()) this.#forget(pid)
  }

  /** A process that ends or becomes another program meanwhile, or belongs to another user, names no call. */
  async #look(pid: number): Promise<string | undefined> {
    let fd: number | undefined
    try {
      fd = openSync(`${this.#proc}/${pid}/stat`, 'r')
      const print = this.#printOf(fd)
      const toolCall = callIn(await readFile(`${this.#proc}/${pid}/environ`, 'latin1'))
      if (print === undefined || this.#printOf(fd) !== print) throw new Error('another program')
      this.#keep(pid, { fd, print, toolCall })
      return toolCall
    } catch {
      if (fd !== undefined) closeSync(fd)
      return undefined
    }
  }

  /** When the process began (field 22) and where its environment begins (field 50). Undefined once it has ended. */
  #printOf(fd: number): string | undefined {
    try {
      const text = this.#buffer.toString('latin1', 0, readSync(fd, this.#buffer, 0, 2048, 0))
      // The name of the program is in parentheses and may have blanks. Field 3 follows it.
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
      return `${fields[22 - 3]} ${fields[50 - 3]}`
    } catch {
      return undefined
    }
  }

  #keep(pid: number, process: KnownProcess): void {
    this.#forget(pid)
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

function afterPatience(): Promise<undefined> {
  return new Promise((resolve) => setTimeout(resolve, patienceMs, undefined).unref())
}

const assignment = 'CAIRN_TOOL_CALL='

/** Anything else than a call's id is none. */
function callIn(environment: string): string | undefined {
  const line = environment.split('\0').find((each) => each.startsWith(assignment))
  const value = line?.slice(assignment.length)
  return isToolCall(value) ? value : undefined
}
