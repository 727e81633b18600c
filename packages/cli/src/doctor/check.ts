/** One thing that cairn needs. `fix` is the command that puts it right. */
export interface Check {
  readonly name: string
  readonly state: 'ok' | 'warn' | 'fail'
  readonly says: string
  readonly fix?: string
}

export function ok(name: string, says: string): Check {
  return { name, state: 'ok', says }
}

export function warn(name: string, says: string, fix: string): Check {
  return { name, state: 'warn', says, fix }
}

export function fail(name: string, says: string, fix: string): Check {
  return { name, state: 'fail', says, fix }
}
