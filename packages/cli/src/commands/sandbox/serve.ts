import type { E2BServer } from '@cairn/sandbox'
import { isCairnError } from '@cairn/sdk'
import { type Command, defineCommand } from '../../arguments/command.ts'
import type { Cli } from '../../cli.ts'
import {
  connectionOptions,
  type ConnectionValues,
  findCredentials,
} from '../../context/credentials.ts'
import { cliError, usageError } from '../../errors.ts'
import { parseBytes } from '../../layers/quota.ts'
import { dataOf, sandboxOptions } from '../../sandbox/open.ts'

const listenDefault = '127.0.0.1:49999'

export const command: Command = defineCommand({
  summary: 'Run sandboxes on this machine, for programs that use E2B',
  description:
    'Programs that use the e2b package run unchanged with the variables that the command prints. Volumes are\n' +
    'workspaces of the Cairn server of --server or the context. Ctrl-C and SIGTERM stop the server and all\n' +
    'running sandboxes; paused sandboxes, templates and snapshots stay. The systems base, python, node and\n' +
    'code-interpreter-v1 are built once from packages of Debian and npm, and kept in ~/.cairn/bases. Needs\n' +
    'root.',
  arguments: {},
  options: {
    listen: {
      kind: 'text',
      value: 'HOST:PORT',
      summary: `${listenDefault} unless given; port 0 takes a free one`,
    },
    disk: {
      kind: 'text',
      value: 'SIZE',
      summary: 'Disk quota of each sandbox (default: 10GiB)',
    },
    'host-system': {
      kind: 'flag',
      summary: 'Use the system of this machine as base, instead of a Debian built from packages',
    },
    ...sandboxOptions,
    ...connectionOptions,
  },
  examples: [
    { command: 'cairn sandbox serve', does: 'then export what it prints, and run your program' },
    {
      command: 'cairn sandbox serve --data /srv/sandboxes --listen 127.0.0.1:0',
      does: 'elsewhere',
    },
  ],
  async run({ options, cli }) {
    const { serveE2B } = await import('@cairn/sandbox')
    const { host, port } = parseListen(options.listen ?? listenDefault)
    const data = dataOf(cli, options.data)
    const cairn = await findCairn(cli, options)
    const warn = (message: string): void => void cli.err.line(`warning: ${message}`).catch(() => {})
    const note = (message: string): void => void cli.err.line(message).catch(() => {})
    const diskBytes = parseBytes('--disk', options.disk) ?? undefined
    const server = await start(() =>
      serveE2B({
        data,
        host,
        port,
        warn,
        note,
        hostSystem: options['host-system'],
        ...(cairn && { cairn }),
        ...(diskBytes && { diskBytes }),
      }),
    )
    try {
      if (cli.isJson)
        await cli.out.json({
          url: server.url,
          data,
          env: server.env,
          authority: server.authority ?? null,
        })
      else await say(cli, server, data, cairn?.server)
      await cli.out.flush()
      await stopOf(cli.signal)
    } finally {
      await server.close()
    }
  },
})

async function start<Server>(serve: () => Promise<Server>): Promise<Server> {
  const what = 'run sandboxes'
  if (process.getuid?.() !== 0)
    throw cliError('sandbox_failed', what, 'that needs root', 'Run: sudo cairn sandbox serve.')
  try {
    return await serve()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const hint = 'Give another --listen or --data.'
    throw cliError('sandbox_failed', what, reason.replace(/\.$/, ''), hint, error)
  }
}

/** Lines for a shell: what is exported makes the e2b package come here. */
async function say(
  cli: Cli,
  { env, authority }: Pick<E2BServer, 'env' | 'authority'>,
  data: string,
  cairn: string | undefined,
): Promise<void> {
  for (const [name, value] of Object.entries(env)) await cli.out.line(`export ${name}=${value}`)
  const volumes = cairn === undefined ? 'no Cairn server, so no volumes' : `volumes at ${cairn}`
  await cli.err.line(`data in ${data}; ${volumes}; Ctrl-C ends it`)
  if (authority !== undefined)
    await cli.err.line(`for https:// of ports: export NODE_EXTRA_CA_CERTS=${authority}`)
}

/** Without a Cairn server there are no volumes, and everything else works. */
async function findCairn(
  cli: Cli,
  values: ConnectionValues,
): Promise<{ server: string; key: string } | undefined> {
  try {
    const { server, apiKey: key } = await findCredentials(cli, values)
    return { server, key }
  } catch (error) {
    if (isCairnError(error) && error.code === 'not_configured') return undefined
    throw error
  }
}

function parseListen(text: string): { host: string; port: number } {
  const match = /^(?<host>.+):(?<port>\d{1,5})$/.exec(text)
  const port = Number(match?.groups?.['port'])
  if (match === null || port > 65_535)
    throw usageError(
      `listen on ${text}`,
      'it is no HOST:PORT',
      `Give something like ${listenDefault}.`,
    )
  return { host: match.groups!['host']!.replace(/^\[(.*)\]$/, '$1'), port }
}

function stopOf(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve())
  })
}
