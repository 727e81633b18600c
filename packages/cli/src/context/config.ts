import { chmod, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { randomBytes } from 'node:crypto'
import type { Cli } from '../cli.ts'
import { cliError, usageError } from '../errors.ts'

export const contextKinds = ['owner', 'fs_scoped', 'delegated'] as const
export type ContextKind = (typeof contextKinds)[number]

/** A server and a key that belong together, and what is used when nothing else is said. */
export interface SavedContext {
  readonly kind: ContextKind
  readonly server: string
  readonly apiKey: string
  readonly workspace?: string
  /** Of tokens: what they say of themselves. The server decides. */
  readonly scope?: readonly string[]
  readonly expiresAt?: string
}

export interface Config {
  readonly currentContext: string | undefined
  readonly contexts: ReadonlyMap<string, SavedContext>
}

export function configPath({ env, home }: Pick<Cli, 'env' | 'home'>): string {
  return env['CAIRN_CONFIG'] || join(home, '.cairn', 'config')
}

/** Empty when there is no file yet. */
export async function readConfig(cli: Pick<Cli, 'env' | 'home'>): Promise<Config> {
  const path = configPath(cli)
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined) return { currentContext: undefined, contexts: new Map() }
  try {
    return parseConfig(JSON.parse(text))
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    const hint = 'Mend the file, or move it away and add the contexts again.'
    throw cliError('not_configured', `read ${path}`, reason, hint, cause)
  }
}

function parseConfig(value: unknown): Config {
  const { currentContext, contexts = {} } = asObject(value, 'the file')
  if (currentContext !== undefined && typeof currentContext !== 'string')
    throw new TypeError('currentContext is no text')
  const entries = Object.entries(asObject(contexts, 'contexts'))
  const map = new Map(entries.map(([name, context]) => [name, parseContext(name, context)]))
  return { currentContext, contexts: map }
}

/** What a newer version has added stays as it is. */
function parseContext(name: string, value: unknown): SavedContext {
  const context = asObject(value, `context ${name}`)
  const { kind, server, apiKey } = context
  if (!contextKinds.some((known) => known === kind))
    throw new TypeError(`context ${name} has none of the kinds ${contextKinds.join(', ')}`)
  if (typeof server !== 'string' || typeof apiKey !== 'string')
    throw new TypeError(`context ${name} has no server or no apiKey`)
  return context as unknown as SavedContext
}

function asObject(value: unknown, what: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>
  throw new TypeError(`${what} is no JSON object`)
}

/** Replaces the file in one step, readable by its owner alone. A link to it stays a link to the old one. */
export async function writeConfig(cli: Pick<Cli, 'env' | 'home'>, config: Config): Promise<void> {
  const path = configPath(cli)
  const text = JSON.stringify(
    { currentContext: config.currentContext, contexts: Object.fromEntries(config.contexts) },
    null,
    2,
  )
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`
  try {
    const file = await open(temporary, 'wx', 0o600)
    try {
      await file.writeFile(`${text}\n`)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
    // The umask may have taken bits away, never added any; a file system without modes ignores both.
    await chmod(path, 0o600)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

/** The first context that is saved becomes the current one. */
export function withContext(config: Config, name: string, context: SavedContext): Config {
  return {
    currentContext: config.currentContext ?? name,
    contexts: new Map([...config.contexts, [name, context]]),
  }
}

/** A name stands before the colon of `ctx:/path`, so it cannot hold everything. */
export function checkContextName(name: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name)) return name
  throw usageError(
    `call a context '${name}'`,
    'it is no name',
    'Use up to 64 letters, digits, dots, dashes and underscores, a letter or digit first.',
  )
}

export function getContext({ contexts }: Config, name: string): SavedContext {
  const context = contexts.get(name)
  if (context) return context
  const known = [...contexts.keys()].join(', ') || 'none yet'
  const hint = `There are: ${known}. Add one with: cairn ctx add.`
  throw cliError('not_configured', `use the context ${name}`, 'there is none of that name', hint)
}
