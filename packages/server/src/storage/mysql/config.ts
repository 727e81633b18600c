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

const statementTimeoutMs = 30_000

/** `mysql://user:password@host:port/database?tls=true`; rejects anything it does not understand. */
export function parseMysqlUrl(text: string): MysqlConfig {
  const url = URL.parse(text)
  const database = url?.pathname.slice(1) ?? ''
  if (!url || !url.hostname || !/^[\w-]+$/.test(database) || !hasKnownOptions(url))
    throw new CairnError('storage_misconfigured', {
      message:
        'cannot read the address of the database: want mysql://user:password@host:port/database, with ?tls=true for TLS',
    })
  return {
    host: url.hostname,
    port: Number(url.port || 3306),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database,
    tls: url.searchParams.get('tls') === 'true',
    timeoutMs: statementTimeoutMs,
  }
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
