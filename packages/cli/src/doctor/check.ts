/** One thing that cairn needs. `mend` is the command that puts it right. */
export interface Check {
  readonly name: string
  readonly state: 'ok' | 'warn' | 'fail'
  readonly says: string
  readonly mend?: string
}

export function ok(name: string, says: string): Check {
  return { name, state: 'ok', says }
}

export function warn(name: string, says: string, mend: string): Check {
  return { name, state: 'warn', says, mend }
}

export function fail(name: string, says: string, mend: string): Check {
  return { name, state: 'fail', says, mend }
}
