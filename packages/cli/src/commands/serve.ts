import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { ServeOptions, Serving } from '@cairn/server'
import { type Command, defineCommand } from '../arguments/command.ts'
import type { Cli } from '../cli.ts'
import { isSystemError } from '../describe-error.ts'
import { cliError, usageError } from '../errors.ts'
import { startInBackground, tellReady } from '../local/background.ts'
import { collectBuffersSeldom } from '../local/buffer-memory.ts'
import { findClientFiles } from '../local/client-files.ts'
import { moveLocalContext, saveLocalContext } from '../local/context.ts'
import { ownAddress } from '../local/own-address.ts'
import { dataDirectory, downCommand, logPath, noteRunning } from '../local/running.ts'
import { firstWorkspaceName } from '../remote/own-workspace.ts'

const defaultListen = '127.0.0.1:7070'

export const command: Command = defineCommand({
  summary: 'Run a server on this machine',
  description:
    'Keeps everything in one directory, unless --meta and --objects name stores that several servers share.\n' +
    'The first start creates an owner key in DIR/owner-key and a workspace called default, and saves both as\n' +
    'the context local. Ctrl-C or SIGTERM stops it; with --background, cairn down does. CAIRN_MASTER_KEY can\n' +
    'hold the master key. Keep that key safe: it protects the vault.',
  arguments: {},
  options: {
    data: {
      kind: 'text',
      value: 'DIR',
      summary: 'Data directory (default: ~/.cairn/data)',
    },
    listen: {
      kind: 'text',
      value: 'HOST:PORT',
      summary: 'Address to listen on (default: 127.0.0.1:7070); port 0 means any free port',
    },
    meta: {
      kind: 'text',
      value: 'URL',
      summary: 'Database for metadata, instead of the directory: mysql://…',
    },
    objects: {
      kind: 'text',
      value: 'URL',
      summary: 'Object store for content, instead of the directory: s3://bucket?endpoint=…',
    },
    'master-key-file': {
      kind: 'text',
      value: 'FILE',
      summary:
        'File with master keys, newest first, 32 bytes each in hex or base64 (default: DIR/master-key)',
    },
    'master-key-command': {
      kind: 'text',
      value: 'CMD',
      summary: 'Command that prints the master keys, for a key service',
    },
    'tls-cert': {
      kind: 'text',
      value: 'FILE',
      summary: 'TLS certificate with its chain, in PEM; read again when it changes',
    },
    'tls-key': { kind: 'text', value: 'FILE', summary: 'Private key of the certificate, in PEM' },
    'allow-host': {
      kind: 'list',
      value: 'NAME',
      summary: 'Also accept requests for this host name, such as that of a tunnel to loopback',
    },
    'metrics-listen': {
      kind: 'text',
      value: 'HOST:PORT',
      summary: 'Serve /metrics at this address without a key; otherwise it needs an owner key',
    },
    'peer-address': {
      kind: 'text',
      value: 'URL',
      summary:
        'Address at which other servers on the same database reach this one; all mounts of a branch meet at one of them',
    },
    'client-dir': {
      kind: 'text',
      value: 'DIR',
      summary: 'Directory with more clients for /install (default: DATA/dist)',
    },
    background: {
      kind: 'flag',
      summary:
        'Run in the background until cairn down, and write to DIR/server.log; returns when the server is ready',
    },
    log: { kind: 'flag', summary: 'Log each request as a line of JSON to standard error' },
  },
  examples: [
    { command: 'cairn serve', does: 'for this machine alone' },
    { command: 'cairn serve --background', does: 'the same in the background' },
    {
      command:
        'cairn serve --data /srv/cairn --listen 0.0.0.0:7070 --tls-cert cert.pem --tls-key key.pem',
      does: 'for other machines too',
    },
  ],
  async run({ options, cli }) {
    const data = resolve(dataDirectory(cli.home, options.data))
    if (options.background) return serveInBackground(cli, data, options)
    const server = await openServer(cli, data, options)
    try {
      await noteRunning(data, server.url)
      await tellServing(cli, data, server, options['tls-cert'])
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
  readonly 'peer-address': string | undefined
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
    peerAddress: options['peer-address'],
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

async function tellServing(
  cli: Cli,
  data: string,
  server: Serving,
  certificate: string | undefined,
): Promise<void> {
  const { url, ownerKey, metricsUrl, firstWorkspace: workspace } = server
  const own = ownAddress(url, certificate && (await readFile(certificate, 'utf8')))
  const context =
    ownerKey && (await saveLocalContext(cli, { server: own, apiKey: ownerKey, workspace }))
  if (context === undefined) await moveLocalContext(cli, data, own)
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
  await cli.out.line(`${how} on ${url}, data in ${data}`)
  await cli.out.line(`process ${pid}, log in ${log}`)
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
    ...word('peer-address', options['peer-address']),
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
