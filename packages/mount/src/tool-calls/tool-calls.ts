import type { Answer } from '../fuse/file-system.ts'
import type { ProcessCalls } from './process-calls.ts'

/** What a change is done for. */
export interface Cause {
  /** The kernel's number for its request, or 0. */
  readonly request: number
  /** The call of an agent's tool that the program is part of. */
  readonly toolCall?: string | undefined
}

/** Tells which call of an agent's tool changes are part of. */
export class ToolCalls {
  readonly #processes: ProcessCalls | undefined
  #whole: string | undefined

  /** Without `processes`, no process is asked. */
  constructor(processes: ProcessCalls | undefined) {
    this.#processes = processes
  }

  /** That every change belongs to, but for those of processes that name one of their own. */
  get whole(): string | undefined {
    return this.#whole
  }

  begin(toolCall: string): void {
    this.#whole = toolCall
  }

  /** False when it is another one by now, or none. */
  end(toolCall: string): boolean {
    if (this.#whole !== toolCall) return false
    this.#whole = undefined
    return true
  }

  close(): void {
    this.#processes?.close()
  }

  /** While the process waits for its answer: afterwards it may be gone. */
  causeOf({ request, pid }: { readonly request: number; readonly pid: number }): Answer<Cause> {
    const own = this.#processes?.of(pid)
    if (!(own instanceof Promise)) return { request, toolCall: own ?? this.#whole }
    return own.then((toolCall) => ({ request, toolCall: toolCall ?? this.#whole }))
  }
}
