import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

/** Where an example runs, and on what. */
export interface Settings {
  readonly provider: 'local' | 'e2b'
  /** A server that is there; else one is started in this process. */
  readonly server?: { readonly url: string; readonly apiKey: string }
  /** Where sandboxes at E2B reach it, if not where we do. */
  readonly serverInside?: string
  /**
   * The data directory of the server that is started: kept afterwards. Default: a directory that is
   * removed.
   */
  readonly data?: string
  /** Default: a new one with a name of its own. */
  readonly workspace?: string
  /** The E2B template. */
  readonly template: string
  readonly question?: string
  /** What else was given, in order. */
  readonly words: readonly string[]
  readonly help: boolean
}

/** What was typed has no meaning. */
export class UsageError extends Error {}

export const optionsHelp = `
  --provider local|e2b    jails on this machine (default), or E2B with E2B_API_KEY
  --data DIR              keep the embedded server's data there, to look at afterwards
  --workspace NAME        default: a new one
  --server URL --api-key-file FILE
                          use a server that is there instead of an embedded one
  --server-inside URL     e2b: where the sandboxes reach that server, if not at the same URL
  --template NAME         e2b: a template with Node 22, git and FUSE; default: cairn
                          (made with: cairn sandbox template --e2b)
  --help`

export function readSettings(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Settings {
  const { values, positionals } = parse(args)
  const { provider = 'local', data, workspace, question } = values
  if (provider !== 'local' && provider !== 'e2b')
    throw new UsageError(`cannot use the provider ${provider}: give local or e2b`)
  const url = values.server ?? env['CAIRN_SERVER']
  const file = values['api-key-file']
  // Not an argument: other users of the machine see those.
  const apiKey = file === undefined ? env['CAIRN_API_KEY'] : readFileSync(file, 'utf8').trim()
  const isElsewhere = provider === 'e2b' || values.server !== undefined
  if (isElsewhere && (!url || !apiKey)) throw new UsageError(missingServer(provider))
  return {
    provider,
    ...(isElsewhere && { server: { url: url!, apiKey: apiKey! } }),
    ...(values['server-inside'] && { serverInside: values['server-inside'] }),
    ...(data && { data }),
    ...(workspace && { workspace }),
    template: values.template ?? 'cairn',
    ...(question && { question }),
    words: positionals,
    help: values.help ?? false,
  }
}

function missingServer(provider: string): string {
  const why =
    provider === 'e2b' ? 'sandboxes at E2B cannot reach a server that starts on this machine. ' : ''
  return `cannot find the server: ${why}Give --server URL and --api-key-file FILE, or set CAIRN_SERVER and CAIRN_API_KEY.`
}

function parse(args: readonly string[]) {
  const text = { type: 'string' } as const
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        provider: text,
        data: text,
        workspace: text,
        server: text,
        'api-key-file': text,
        'server-inside': text,
        template: text,
        question: text,
        help: { type: 'boolean', short: 'h' },
      },
    })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}
