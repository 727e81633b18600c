import { join } from 'node:path'
import type { Cli } from '../cli.ts'
import { cliError, usageError } from '../errors.ts'
import { asObject, readJsonFile, writeSecretFile } from './secret-file.ts'

export const contextKinds = ['owner', 'fs_scoped', 'delegated'] as const
export type ContextKind = (typeof contextKinds)[number]

/** A server and a key that belong together, and what is used when nothing else is said. */
export interface SavedContext {
  readonly kind: ContextKind
  readonly server: string
  readonly apiKey: string
  readonly workspace?: string
  /** Set for tokens: what the token itself says. The server decides. */
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
  const hint = 'Fix the file, or move it away and add the contexts again.'
  const config = await readJsonFile(configPath(cli), parseConfig, hint)
  return config ?? { currentContext: undefined, contexts: new Map() }
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

export async function writeConfig(cli: Pick<Cli, 'env' | 'home'>, config: Config): Promise<void> {
  const { currentContext, contexts } = config
  const value = { currentContext, contexts: Object.fromEntries(contexts) }
  await writeSecretFile(configPath(cli), value)
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
  const known = [...contexts.keys()].join(', ')
  const saved = known === '' ? '' : `Saved contexts: ${known}. `
  const hint = `${saved}Add one with: cairn ctx add. To name a workspace: cairn … --workspace ${name}.`
  throw cliError('not_configured', `use the context ${name}`, 'no context has this name', hint)
}
