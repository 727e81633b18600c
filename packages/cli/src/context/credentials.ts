import { conflictSides } from '@cairn/protocol'
import type { Cli } from '../cli.ts'
import { cliError, usageError } from '../errors.ts'
import { type Config, getContext, readConfig } from './config.ts'
import { type Login, readLogin } from './login.ts'
import { readSecretFile } from './secret-file.ts'

/** The options of every command that talks to a server. */
export const connectionOptions = {
  server: { kind: 'text', value: 'URL', summary: 'Address of the server; needs --api-key-file' },
  'api-key-file': {
    kind: 'text',
    value: 'FILE',
    summary: 'File with the key for --server, readable by you alone',
  },
  context: {
    kind: 'text',
    value: 'NAME',
    summary: 'Use this saved context instead of the current one',
  },
} as const

const workspaceOption = {
  workspace: {
    kind: 'text',
    short: 'w',
    value: 'NAME',
    summary: "Use this workspace instead of the context's own",
  },
} as const

const pointOptions = {
  branch: { kind: 'text', value: 'NAME', summary: 'The branch (default: main)' },
  layer: { kind: 'text', value: 'REF', summary: 'A layer: its id, name, tag k=v or a checkpoint' },
  at: { kind: 'text', value: 'CHECKPOINT', summary: 'Read the state at this checkpoint' },
} as const

/** Options of commands that work on a workspace as a whole. */
export const workspaceOptions: typeof connectionOptions & typeof workspaceOption = {
  ...connectionOptions,
  ...workspaceOption,
}

/** Options of commands that work on files. */
export const fileOptions: typeof workspaceOptions & typeof pointOptions = {
  ...workspaceOptions,
  ...pointOptions,
}

interface SideOption {
  readonly side: {
    readonly kind: 'choice'
    readonly choices: typeof conflictSides
    readonly summary: string
  }
}

const sideOption: SideOption = {
  side: {
    kind: 'choice',
    choices: conflictSides,
    summary: 'For a layer in conflict: the version of its base, of the layer, or of its parent',
  },
}

/** Options of commands that read files. */
export const readerOptions: typeof fileOptions & SideOption = {
  ...fileOptions,
  ...sideOption,
}

export interface ConnectionValues {
  readonly server?: string | undefined
  readonly 'api-key-file'?: string | undefined
  readonly context?: string | undefined
}

export interface ApiCredentials {
  readonly server: string
  readonly apiKey: string
  /** Where both come from: never one from here and one from there, or a key could reach the wrong server. */
  readonly source: string
  readonly context: string | undefined
  /** The default of the same source. */
  readonly workspace: string | undefined
  /** The call of an agent's tool that the command is part of: `CAIRN_TOOL_CALL`. */
  readonly toolCall?: string
}

export async function findCredentials(
  cli: Pick<Cli, 'env' | 'home'>,
  values: ConnectionValues,
): Promise<ApiCredentials> {
  const found = await findSource(cli, values)
  const toolCall = cli.env['CAIRN_TOOL_CALL']
  return toolCall ? { ...found, toolCall } : found
}

/** Options, then the environment, then the saved context, then the login; a context that is named comes first. */
async function findSource(
  cli: Pick<Cli, 'env' | 'home'>,
  values: ConnectionValues,
): Promise<ApiCredentials> {
  const workspace = cli.env['CAIRN_WORKSPACE'] || undefined
  const flags = await fromOptions(values, workspace)
  if (flags) return flags
  const config = await readConfig(cli)
  if (values.context !== undefined) return fromContext(config, values.context)
  const environment = fromEnvironment(cli.env)
  if (environment) return environment
  if (config.currentContext !== undefined) {
    const current = fromContext(config, config.currentContext)
    return { ...current, workspace: workspace ?? current.workspace }
  }
  const login = await readLogin(cli)
  if (login) return fromLogin(login, workspace)
  throw cliError(
    'not_configured',
    'find a server',
    'no context is saved, and you are not logged in',
    'Start one with: cairn serve; or save one with: cairn ctx add --name NAME --server URL --api-key-file FILE.',
  )
}

function fromLogin(login: Login, workspace: string | undefined): ApiCredentials {
  const { apiUrl: server, token: apiKey } = login
  const source = 'login (~/.cairn/credentials.json)'
  return { server, apiKey, source, context: undefined, workspace: workspace ?? login.workspace }
}

async function fromOptions(
  values: ConnectionValues,
  workspace: string | undefined,
): Promise<ApiCredentials | undefined> {
  const { server, 'api-key-file': file, context } = values
  if (server === undefined && file === undefined) return undefined
  const what = 'use --server and --api-key-file'
  if (context !== undefined)
    throw usageError(what, 'a context is named as well', 'Give one or the other.')
  if (server === undefined || file === undefined)
    throw usageError(what, 'one of them is missing', 'Give both: a key belongs to its server.')
  const apiKey = await readSecretFile(file)
  return { server, apiKey, source: 'options', context: undefined, workspace }
}

/** A family is taken whole: `DRIVE9_*` counts only where no `CAIRN_*` is set. */
function fromEnvironment(env: Cli['env']): ApiCredentials | undefined {
  for (const family of ['CAIRN', 'DRIVE9']) {
    const [server, apiKey] = [env[`${family}_SERVER`], env[`${family}_API_KEY`]]
    if (!server && !apiKey) continue
    if (!server || !apiKey) {
      const [set, missing] = server ? ['SERVER', 'API_KEY'] : ['API_KEY', 'SERVER']
      const what = `use ${family}_${set}`
      const hint = 'Set both or neither: a key belongs to its server.'
      throw cliError('not_configured', what, `${family}_${missing} is not set`, hint)
    }
    const workspace = env[`${family}_WORKSPACE`]
    const source = `environment (${family}_SERVER, ${family}_API_KEY)`
    return { server, apiKey, source, context: undefined, workspace }
  }
  return undefined
}

function fromContext(config: Config, name: string): ApiCredentials {
  const { server, apiKey, workspace } = getContext(config, name)
  return { server, apiKey, workspace, source: `context ${name}`, context: name }
}
