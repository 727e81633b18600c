import { CairnError } from '@cairn/protocol'

/** What an error of the driver or the server says about the transaction it happened in. */
export type Trouble =
  /** The server undid the transaction, because of others: repeat it. */
  | 'repeat'
  /** The server, or the way to it, is out of order. Unless it was committing, nothing has happened. */
  | 'unavailable'
  | 'key_taken'
  | 'full'
  | 'misconfigured'
  | 'bug'

const troubles: Readonly<Record<number, Trouble>> = {
  1062: 'key_taken',
  // Deadlock, lock wait timeout.
  1213: 'repeat',
  1205: 'repeat',
  // TiDB: retry limit, failed commit, schema changed, write conflict.
  8002: 'repeat',
  8022: 'repeat',
  8028: 'repeat',
  9007: 'repeat',
  // TiDB: outcome undetermined, placement driver or storage not answering.
  8501: 'unavailable',
  9001: 'unavailable',
  9002: 'unavailable',
  9003: 'unavailable',
  9004: 'unavailable',
  9005: 'unavailable',
  // Too many connections, shutting down, killed, read-only (a replica that is about to take over).
  1040: 'unavailable',
  1053: 'unavailable',
  1290: 'unavailable',
  1317: 'unavailable',
  1836: 'unavailable',
  1927: 'unavailable',
  1021: 'full',
  1114: 'full',
  // Database or user unknown, password wrong.
  1044: 'misconfigured',
  1045: 'misconfigured',
  1049: 'misconfigured',
  1698: 'misconfigured',
}

export function troubleOf(error: unknown): Trouble {
  if (!(error instanceof Error) || !('code' in error)) return 'bug'
  // Only the server's own errors have an SQL state; the others come from the socket.
  if (!('sqlState' in error && error.sqlState) || !('errno' in error)) return 'unavailable'
  const trouble = troubles[Number(error.errno)]
  if (trouble) return trouble
  if (error.errno === 1105 && /schema is changed/i.test(error.message)) return 'repeat'
  // The engine's own words for ENOSPC.
  return error.errno === 1030 && /error 28\b/.test(error.message) ? 'full' : 'bug'
}

/** A timeout of a statement, or of connecting. */
export function isTimeout(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    (error.code === 'PROTOCOL_SEQUENCE_TIMEOUT' || error.code === 'ETIMEDOUT')
  )
}

const reports = {
  repeat: { code: 'storage_unavailable', why: 'others were in the way each time' },
  unavailable: { code: 'storage_unavailable', why: 'it did not answer' },
  full: { code: 'storage_full', why: 'its disk is full' },
  misconfigured: { code: 'storage_misconfigured', why: 'it refused the user or the database' },
} as const

/** `place` is the database's URL without the password. */
export function mysqlError(place: string, error: unknown): unknown {
  const trouble = troubleOf(error)
  const words = error instanceof Error ? error.message : String(error)
  if (trouble === 'bug' || trouble === 'key_taken')
    return new Error(`the database ${place} refused a statement: ${words}`, { cause: error })
  const { code, why } = reports[trouble]
  return new CairnError(code, {
    what: `use the database ${place}`,
    reason: `${why} (${words})`,
    subject: place,
    cause: error,
  })
}
