import { resolve } from 'node:path'
import type { ServeOptions, Serving } from '@cairn/server'
import { type Command, defineCommand } from '../arguments/command.ts'
import type { Cli } from '../cli.ts'
import { isSystemError } from '../describe-error.ts'
import { cliError, usageError } from '../errors.ts'
import { startInBackground, tellReady } from '../local/background.ts'
import { collectBuffersSeldom } from '../local/buffer-memory.ts'
import { findClientFiles } from '../local/client-files.ts'
import { saveLocalContext } from '../local/context.ts'
import { dataDirectory, downCommand, logPath, noteRunning } from '../local/running.ts'
import { firstWorkspaceName } from '../remote/own-workspace.ts'

const defaultListen = '127.0.0.1:7070'

export const command: Command = defineCommand({
  summary: 'Run a server on this machine',
  description:
    'Everything is kept in one directory, unless --meta and --objects name stores that several servers share. The first\n' +
    'start makes an owner key, kept in DIR/owner-key, and a workspace called default; both are saved as the context\n' +
    'local. Ctrl-C and SIGTERM stop it; with --background, cairn down does.\n' +
    'CAIRN_MASTER_KEY can hold the master key; the vault is worth as much as that key is kept.',
  arguments: {},
  options: {
    data: {
      kind: 'text',
      value: 'DIR',
      summary: 'Where it keeps its data; ~/.cairn/data unless given',
    },
    listen: {
      kind: 'text',
      value: 'HOST:PORT',
      summary: '127.0.0.1:7070 unless given; port 0 takes a free one',
    },
    meta: { kind: 'text', value: 'URL', summary: 'A database instead of the directory: mysql://…' },
    objects: { kind: 'text', value: 'URL', summary: 'An object store: s3://bucket?endpoint=…' },
    'master-key-file': {
      kind: 'text',
      value: 'FILE',
      summary:
        'Master keys, newest first, 32 bytes each in hex or base64; DIR/master-key unless given',
    },
    'master-key-command': {
      kind: 'text',
      value: 'CMD',
      summary: 'A command that prints them instead, for a key service',
    },
    'tls-cert': {
      kind: 'text',
      value: 'FILE',
      summary: 'Speak TLS with this certificate and its chain, in PEM; read again when it changes',
    },
    'tls-key': { kind: 'text', value: 'FILE', summary: 'Its key, in PEM' },
    'allow-host': {
      kind: 'list',
      value: 'NAME',
      summary: 'A name that reaches a server on loopback, such as that of a tunnel',
    },
    'metrics-listen': {
      kind: 'text',
      value: 'HOST:PORT',
      summary: 'Serve /metrics there without a key; else it takes an owner key',
    },
    'client-dir': {
      kind: 'text',
      value: 'DIR',
      summary: 'Clients that /install hands out beside its own; DATA/dist unless given',
    },
    background: {
      kind: 'flag',
      summary: 'Return when it is ready; it writes to DIR/server.log, and runs until cairn down',
    },
    log: { kind: 'flag', summary: 'Write a line of JSON for each request to standard error' },
  },
  examples: [
    { command: 'cairn serve', does: 'for this machine alone' },
    { command: 'cairn serve --background', does: 'the same, without a terminal of its own' },
    {
      command:
        'cairn serve --data /srv/cairn --listen 0.0.0.0:7070 --tls-cert cert.pem --tls-key key.pem',
      does: 'for others too',
    },
  ],
  async run({ options, cli }) {
    const data = resolve(dataDirectory(cli.home, options.data))
    if (options.background) return serveInBackground(cli, data, options)
    const server = await openServer(cli, data, options)
    try {
      await noteRunning(data, server.url)
      await tellServing(cli, data, server)
      await tellReady(cli)
      await stopOf(cli.signal)
    } finally {
      await server.close()
    }
  },
})

interface ServeValues extends TlsValues, MasterKeyValues {
  readonly listen: string | undefined
  readonly meta: string | undefined
  readonly objects: string | undefined
  readonly 'allow-host': readonly string[]
  readonly 'metrics-listen': string | undefined
  readonly 'client-dir': string | undefined
  readonly log: boolean
}

async function openServer(cli: Cli, data: string, options: ServeValues): Promise<Serving> {
  collectBuffersSeldom()
  const { clientName, serve } = await import('@cairn/server')
  const listen = options.listen ?? defaultListen
  return serve({
    data,
    listen,
    firstWorkspace: firstWorkspaceName,
    warn: (message) => void cli.err.line(`warning: ${message}.`).catch(() => {}),
    ...(options.meta === undefined ? {} : { meta: options.meta }),
    ...(options.objects === undefined ? {} : { objects: options.objects }),
    ...masterKeyOf(cli, options),
    ...tlsOf(options),
    allowHosts: options['allow-host'],
    metricsListen: options['metrics-listen'],
    clientFiles: findClientFiles(data, options['client-dir'], clientName),
    ...(options.log
      ? { log: { write: (line: string) => void cli.err.raw(line).catch(() => {}) } }
      : {}),
  }).catch((error: unknown) => {
    if (!isSystemError(error) || error.code !== 'EADDRINUSE') throw error
    const hint = 'Stop it, or take a free port with: --listen 127.0.0.1:0.'
    throw cliError(
      'serve_failed',
      `listen on ${listen}`,
      'another program uses this address',
      hint,
      error,
    )
  })
}

async function tellServing(cli: Cli, data: string, server: Serving): Promise<void> {
  const { url, ownerKey, metricsUrl, firstWorkspace: workspace } = server
  const context =
    ownerKey && (await saveLocalContext(cli, { server: url, apiKey: ownerKey, workspace }))
  if (cli.isJson) await cli.out.json({ url, data, context, workspace, metricsUrl })
  else {
    const made = workspace === undefined ? '' : `, with the workspace ${workspace}`
    const note =
      context === undefined ? '' : `; its owner key is saved as context ${context}${made}`
    await cli.out.line(`listening on ${url}, data in ${data}${note}`)
    if (metricsUrl !== undefined) await cli.out.line(`metrics at ${metricsUrl}`)
  }
  await cli.out.flush()
}

async function serveInBackground(cli: Cli, data: string, options: ServeValues): Promise<void> {
  const { url, pid, wasRunning } = await startInBackground(cli, data, wordsOf(options))
  const log = logPath(data)
  if (cli.isJson) return cli.out.json({ url, data, pid, log, wasRunning })
  const how = wasRunning ? 'already listening' : 'listening'
  await cli.out.line(`${how} on ${url}, data in ${data}; process ${pid}, log in ${log}`)
  await cli.out.line(`stop it with: ${downCommand(cli, data)}`)
}

/** The same options for another process, which has another working directory. */
function wordsOf(options: ServeValues): string[] {
  const word = (name: string, value: string | undefined): string[] =>
    value === undefined ? [] : [`--${name}=${value}`]
  const file = (name: string, path: string | undefined): string[] =>
    word(name, path === undefined ? undefined : resolve(path))
  return [
    ...word('listen', options.listen),
    ...word('meta', options.meta),
    ...word('objects', options.objects),
    ...file('master-key-file', options['master-key-file']),
    ...word('master-key-command', options['master-key-command']),
    ...file('tls-cert', options['tls-cert']),
    ...file('tls-key', options['tls-key']),
    ...options['allow-host'].flatMap((name) => word('allow-host', name)),
    ...word('metrics-listen', options['metrics-listen']),
    ...file('client-dir', options['client-dir']),
    ...(options.log ? ['--log'] : []),
  ]
}

interface TlsValues {
  readonly 'tls-cert': string | undefined
  readonly 'tls-key': string | undefined
}

function tlsOf({ 'tls-cert': cert, 'tls-key': key }: TlsValues): Partial<ServeOptions> {
  if (cert !== undefined && key !== undefined) return { tls: { cert, key } }
  if (cert === key) return {}
  throw usageError('speak TLS', 'one of its two files is missing', 'Give --tls-cert and --tls-key.')
}

interface MasterKeyValues {
  readonly 'master-key-file': string | undefined
  readonly 'master-key-command': string | undefined
}

/** The environment counts where nothing is said. */
function masterKeyOf(cli: Cli, options: MasterKeyValues): Partial<ServeOptions> {
  const { 'master-key-file': masterKeyFile, 'master-key-command': masterKeyCommand } = options
  if (masterKeyFile !== undefined) return { masterKeyFile }
  if (masterKeyCommand !== undefined) return { masterKeyCommand }
  return { masterKey: cli.env['CAIRN_MASTER_KEY'] || undefined }
}

function stopOf(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve())
  })
}
