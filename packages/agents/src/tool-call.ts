import { AsyncLocalStorage } from 'node:async_hooks'
import { isToolCall } from '@cairn/protocol'

const calls = new AsyncLocalStorage<string>()

/**
 * Names the call of an agent's tool that `work` is part of. What adapters change meanwhile has its id in the log.
 *
 * @example
 * ```ts
 * await withToolCall('call-7', () => bash.exec('rm -r build'))
 * ```
 */
export function withToolCall<Result>(id: string, work: () => Result): Result {
  return calls.run(id, work)
}

/** The same for the rest of the caller's asynchronous function: some frameworks only say that a call begins. */
export function enterToolCall(id: string): void {
  calls.enterWith(id)
}

/** An id that the log cannot hold is none. */
export function currentToolCall(): string | undefined {
  const id = calls.getStore()
  return isToolCall(id) ? id : undefined
}
