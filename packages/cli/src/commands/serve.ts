import { join } from 'node:path'
import type { ServeOptions } from '@cairn/server'
import { type Command, defineCommand } from '../arguments/command.ts'
import type { Cli } from '../cli.ts'
import { readConfig, withContext, writeConfig } from '../context/config.ts'
import { usageError } from '../errors.ts'

export const command: Command = defineCommand({
  summary: 'Run a server on this machine',
  description:
    'Everything is kept in one directory, unless --meta and --objects name stores that several servers share. The first\n' +
    'start makes an owner key, kept in DIR/owner-key, and saves it as the context local. Ctrl-C and SIGTERM stop it.\n' +
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
    log: { kind: 'flag', summary: 'Write a line of JSON for each request to standard error' },
  },
  examples: [
    { command: 'cairn serve', does: 'for this machine alone' },
    {
      command:
        'cairn serve --data /srv/cairn --listen 0.0.0.0:7070 --tls-cert cert.pem --tls-key key.pem',
      does: 'for others too',
    },
  ],
  async run({ options, cli }) {
    const { serve } = await import('@cairn/server')
    const data = options.data ?? join(cli.home, '.cairn', 'data')
    const server = await serve({
      data,
      listen: options.listen ?? '127.0.0.1:7070',
      warn: (message) => void cli.err.line(`warning: ${message}.`).catch(() => {}),
      ...(options.meta === undefined ? {} : { meta: options.meta }),
      ...(options.objects === undefined ? {} : { objects: options.objects }),
      ...masterKeyOf(cli, options),
      ...tlsOf(options),
      allowHosts: options['allow-host'],
      metricsListen: options['metrics-listen'],
      ...(options.log
        ? { log: { write: (line: string) => void cli.err.raw(line).catch(() => {}) } }
        : {}),
    })
    try {
      const { url, ownerKey, metricsUrl } = server
      const context = ownerKey === undefined ? undefined : await saveContext(cli, url, ownerKey)
      const note = context === undefined ? '' : `; its owner key is saved as context ${context}`
      if (cli.isJson) await cli.out.json({ url, data, context, metricsUrl })
      else await cli.out.line(`listening on ${url}, data in ${data}${note}`)
      if (metricsUrl !== undefined && !cli.isJson) await cli.out.line(`metrics at ${metricsUrl}`)
      await cli.out.flush()
      await stopOf(cli.signal)
    } finally {
      await server.close()
    }
  },
})

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

/** `local`, unless that is another server's: then its port tells them apart. */
async function saveContext(cli: Cli, server: string, apiKey: string): Promise<string> {
  const config = await readConfig(cli)
  const taken = config.contexts.get('local')
  const isOther = taken !== undefined && taken.server !== server
  const name = isOther ? `local-${new URL(server).port || '80'}` : 'local'
  await writeConfig(cli, withContext(config, name, { kind: 'owner', server, apiKey }))
  return name
}

function stopOf(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve())
  })
}
