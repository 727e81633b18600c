import type { Finding } from './report.ts'

/** Where scratch stores can be made beside what the operator keeps there. Nothing else there is touched. */
export interface VerifyPlace<Store> {
  /** For messages: without a password. */
  readonly name: string
  /** The names of all scratch stores that are there, and of other things. */
  list(): Promise<readonly string[]>
  /** Makes an empty store of that name. After a rejection something of it may be there. */
  make(name: string): Promise<Store>
  /** Closes the store and deletes it with everything in it. Succeeds also when there is none. */
  remove(name: string): Promise<void>
  /** The command with which an operator removes it. */
  removal(name: string): string
  /** What to change where `make` was refused. */
  readonly makeHint: string
  /** Settings and clock of the operator's own store. */
  check(): Promise<readonly Finding[]>
  close(): Promise<void>
}
