/** One thing that Cairn needs of a store. `fix` puts it right. */
export interface StoreCheck {
  readonly store: StoreRole
  readonly name: string
  readonly state: 'ok' | 'warn' | 'fail'
  readonly says: string
  readonly fix?: string
}

export type StoreRole = 'database' | 'objects'

export interface SuiteResult {
  readonly store: StoreRole
  readonly name: string
  readonly passed: number
  readonly failures: readonly CaseFailure[]
  readonly seconds: number
}

export interface CaseFailure {
  readonly case: string
  readonly reason: string
}

/** How long one request took, and how many were answered in a second. */
export interface StoreSpeed {
  readonly store: StoreRole
  readonly name: string
  readonly atOnce: number
  readonly requests: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly perSecond: number
  /** Absent where a request carries no content to speak of. */
  readonly bytesPerSecond?: number
}

export interface VerifyReport {
  /** Where the stores are, without passwords. */
  readonly database: string
  readonly objects: string
  readonly checks: readonly StoreCheck[]
  readonly suites: readonly SuiteResult[]
  readonly speeds: readonly StoreSpeed[]
  /** True when no check and no case failed. */
  readonly isFit: boolean
}

/** A check's fields without the store it is about. */
export type Finding = Omit<StoreCheck, 'store'>

export function ok(name: string, says: string): Finding {
  return { name, state: 'ok', says }
}

export function warn(name: string, says: string, fix: string): Finding {
  return { name, state: 'warn', says, fix }
}

export function fail(name: string, says: string, fix: string): Finding {
  return { name, state: 'fail', says, fix }
}
