import { CairnError } from '@cairn/protocol'

export interface MysqlConfig {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
  readonly tls: boolean
  /** How long a statement may take. */
  readonly timeoutMs: number
}

const statementTimeoutMs = 20_000

/** `mysql://user:password@host:port/database?tls=true`; rejects anything it does not understand. */
export function parseMysqlUrl(text: string): MysqlConfig {
  const url = URL.parse(text)
  if (url?.protocol !== 'mysql:' || !url.hostname || !hasKnownOptions(url)) throw unreadable()
  const database = url.pathname.slice(1)
  if (!/^[\w-]+$/.test(database)) throw unreadable()
  return {
    host: url.hostname,
    port: Number(url.port || 3306),
    user: decode(url.username),
    password: decode(url.password),
    database,
    tls: url.searchParams.get('tls') === 'true',
    timeoutMs: statementTimeoutMs,
  }
}

/** A sign that is not meant to be a code must itself be written as one: `%` as `%25`. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw unreadable()
  }
}

function unreadable(): CairnError {
  return new CairnError('storage_misconfigured', {
    what: 'read the address of the database',
    reason:
      'want mysql://user:password@host:port/database, percent-encoded, with ?tls=true for TLS',
  })
}

function hasKnownOptions(url: URL): boolean {
  return [...url.searchParams].every(
    ([name, value]) => name === 'tls' && (value === 'true' || value === 'false'),
  )
}

/** For messages: never with the password. */
export function describePlace({ user, host, port, database }: MysqlConfig): string {
  return `mysql://${user}@${host}:${port}/${database}`
}
