import { mkdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import type { DaemonCommand } from '@cairn/mount'
import { Cairn } from '@cairn/sdk'
import { Bases } from '../bases/bases.ts'
import { ImageError } from '../bases/images.ts'
import { whyNoBases } from '../bases/make-base.ts'
import { createJail } from '../jail/create-jail.ts'
import { whyNoImages } from '../jail/disk-image.ts'
import type { JailOutside } from '../jail/jail.ts'
import { sweep } from '../jail/sweep.ts'
import type { Credential } from '../workspace/credential.ts'
import { ApiError } from './api-error.ts'
import { assertUnclaimed, claim, ensureApiKey } from './claim.ts'
import { ControlPlane } from './control/control-plane.ts'
import { DataPlane } from './data-plane.ts'
import { sendError, sendNothing } from './http.ts'
import { SandboxLogs } from './logs/sandbox-logs.ts'
import { targetOf } from './plane.ts'
import { Disks } from './sandboxes/disks.ts'
import type { Host } from './sandboxes/host.ts'
import type { SandboxRecord } from './sandboxes/record.ts'
import { Sandboxes } from './sandboxes/sandboxes.ts'
import { RecordStore } from './store.ts'
import { BuildFiles } from './templates/build-files.ts'
import { Builder } from './templates/builder.ts'
import { Catalog } from './templates/catalog.ts'
import { StepCache } from './templates/step-cache.ts'
import { ensureCertificate, type PortCertificate, portDomain } from './tls/authority.ts'
import { takeBoth } from './tls/both.ts'
import { serveVolumeContent } from './volumes/content.ts'
import { VolumeMounts } from './volumes/volume-mounts.ts'
import { type Volume, Volumes } from './volumes/volumes.ts'

export interface E2BServerOptions {
  /** Where templates, snapshots and paused sandboxes are kept, and the disks of those that run. Not on a tmpfs. */
  readonly data: string
  /** Default 127.0.0.1. */
  readonly host?: string
  /** Default 0: any that is free. */
  readonly port?: number
  /** What clients have to send. Default: one that is made once and kept with the data. */
  readonly apiKey?: string
  /** The Cairn server where volumes are kept, and a key for it; without it there are none. */
  readonly cairn?: Credential
  /** For bundles: the command that serves mounts. */
  readonly mountDaemon?: DaemonCommand
  /** What the sandboxes' way out leads to. Default: what this machine reaches. */
  readonly outside?: JailOutside
  /** How much a sandbox can write to its own disk. Default: 10 GiB, where this machine can limit disks. */
  readonly diskBytes?: number
  /** Where the systems are that sandboxes start from; servers share it. Default: ~/.cairn/bases. */
  readonly bases?: string
  /** Lets `base` be the system of this machine, which needs no making. */
  readonly hostSystem?: boolean
  /** Told of what takes long. */
  readonly note?: (message: string) => void
  /** Told of what went wrong inside the server. */
  readonly warn?: (message: string) => void
}

export interface E2BServer {
  readonly url: string
  readonly apiKey: string
  /** The file with the authority that signed for `https://` of ports; undefined without openssl. */
  readonly authority?: string
  /** What a program that uses the `e2b` package needs to find this server. */
  readonly env: Readonly<Record<string, string>>
  /** Ends every sandbox; those that are paused, or pause at their timeout, can be resumed from the same data. */
  close(): Promise<void>
}

/** A server that speaks E2B's protocol, with jails of this machine as sandboxes. */
export async function serveE2B(options: E2BServerOptions): Promise<E2BServer> {
  const { data, host: address = '127.0.0.1', port = 0 } = options
  const warn = options.warn ?? ((): void => undefined)
  await mkdir(data, { recursive: true, mode: 0o700 })
  await assertUnclaimed(data)
  const apiKey = options.apiKey ?? (await ensureApiKey(data))
  const parts = await openParts(options)
  const server = createServer()
  const url = await listen(server, address, port)
  const release = await claim(data, { url, apiKey })
  const domain = `${portDomain}:${new URL(url).port}`
  const tls = await certificateOf(options)
  const cutTls = tls === undefined ? undefined : takeBoth(server, tls)
  const control = new ControlPlane({ ...parts, domain, url }, apiKey)
  const plane = new DataPlane(parts.sandboxes)
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    route({ request, response, url, plane, control, volumes: parts.volumes }).catch(
      (error: unknown) => {
        const status = statusOf(error)
        if (status === 500) warn(describe(error))
        sendError(response, status, error instanceof Error ? error.message : String(error))
      },
    )
  })
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy())
    upgrade(plane, request, socket, head).catch((error: unknown) => {
      const status = error instanceof ApiError ? error.status : 500
      socket.end(`HTTP/1.1 ${status} Refused\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
    })
  })
  if (options.hostSystem !== true) makeFirstBase(parts.bases, options)
  const env = {
    E2B_API_URL: url,
    E2B_SANDBOX_URL: url,
    E2B_VOLUME_API_URL: url,
    E2B_API_KEY: apiKey,
  }
  return {
    url,
    apiKey,
    env,
    ...(tls === undefined ? {} : { authority: tls.authority }),
    close: async () => {
      const closed = close(server, parts, release)
      cutTls?.()
      await closed
    },
  }
}

/** Without one, ports are served as plain HTTP alone. */
async function certificateOf({
  data,
  warn,
}: E2BServerOptions): Promise<PortCertificate | undefined> {
  try {
    return await ensureCertificate(join(data, 'tls'))
  } catch (error) {
    warn?.(`ports have no https:// (openssl makes the certificate): ${String(error)}`)
    return undefined
  }
}

/** Nearly every program starts with it, and its first request should not wait. */
function makeFirstBase(bases: Bases, { note, warn }: E2BServerOptions): void {
  if (bases.isMade('base')) return
  if (whyNoBases() === undefined)
    note?.("making the system of base from Debian's packages, once; this takes a minute or more")
  bases.open('base').then(
    () => note?.('base is ready'),
    (error: Error) => warn?.(error.message),
  )
}

/** What E2B says of a sandbox, unless you say otherwise. */
const ordinaryDiskBytes = 10 * 2 ** 30

/** A limit that was asked for and cannot be kept is an error of the first sandbox; the ordinary one is left out. */
function diskLimitOf({ diskBytes, warn }: E2BServerOptions): { readonly diskBytes?: number } {
  if (diskBytes !== undefined) return { diskBytes }
  const why = whyNoImages()
  if (why === undefined) return { diskBytes: ordinaryDiskBytes }
  warn?.(`a sandbox can fill this machine's disk: ${why}`)
  return {}
}

type Parts = Awaited<ReturnType<typeof openParts>>

async function openParts(options: E2BServerOptions) {
  const { data, cairn: credential, mountDaemon, outside } = options
  const records = await RecordStore.open<SandboxRecord>(join(data, 'sandboxes'))
  const catalog = await Catalog.open(join(data, 'templates'), {
    hostSystem: options.hostSystem === true,
  })
  const bases = new Bases(options.bases ?? join(homedir(), '.cairn', 'bases'))
  const kept: SandboxRecord[] = []
  for (const record of await records.all())
    // Jails end with the server that made them, whatever ended it.
    if (record.state === 'paused') kept.push({ ...record, isColdPause: true })
    else await records.delete(record.id)
  const logs = await SandboxLogs.open(join(data, 'logs'))
  const cache = await StepCache.open(join(data, 'steps'))
  const named = new Set([
    ...cache.disks(),
    ...kept.map(({ pausedDisk }) => pausedDisk),
    ...catalog.all().flatMap(({ builds }) => Object.values(builds).map(({ disk }) => disk)),
  ])
  // What was paused when the last server was killed does not notice that by itself.
  const jails = join(data, 'jails')
  await mkdir(jails, { recursive: true, mode: 0o700 })
  await sweep(jails)
  const disks = await Disks.open(join(data, 'disks'), (name) => named.has(name))
  const mounts = new VolumeMounts({
    credential,
    directory: join(data, 'mounts'),
    daemon: mountDaemon,
  })
  const limit = diskLimitOf(options)
  const host: Host = {
    makeJail: (jail) =>
      createJail({ ...jail, limits: { ...jail.limits, ...limit }, ...(outside && { outside }) }),
    jails,
    disks,
    bases,
    diskSizeMB: Math.floor((limit.diskBytes ?? ordinaryDiskBytes) / 2 ** 20),
    records,
    logs,
    mountVolume: (jail, mount) => mounts.mount(jail, mount),
    drainVolumes: (jail) => mounts.drain(jail),
    settleVolumes: (jail) => mounts.settle(jail),
  }
  const sandboxes = new Sandboxes(host, kept)
  const files = new BuildFiles(join(data, 'files'))
  const builder = new Builder({ host, catalog, files, cache })
  const store = await RecordStore.open<Volume>(join(data, 'volumes'))
  const cairn = credential && new Cairn({ server: credential.server, apiKey: credential.key })
  const volumes = new Volumes(cairn, store, await store.all())
  return { diskSizeMB: host.diskSizeMB, sandboxes, catalog, disks, bases, builder, volumes, logs }
}

interface Routed {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly url: string
  readonly plane: DataPlane
  readonly control: ControlPlane
  readonly volumes: Volumes
}

async function route({
  request,
  response,
  url: base,
  plane,
  control,
  volumes,
}: Routed): Promise<void> {
  const url = new URL(request.url ?? '/', base)
  const method = request.method ?? 'GET'
  const target = targetOf(request) ?? plane.findSigned(url, method)
  if (target !== undefined) await plane.serve(target, url, request, response)
  else if (url.pathname.startsWith('/volumecontent/'))
    await serveVolumeContent(volumes, url, request, response)
  else if (url.pathname === '/health') sendNothing(response)
  else await control.serve(url, request, response)
}

async function upgrade(
  plane: DataPlane,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): Promise<void> {
  const target = targetOf(request)
  if (target === undefined) throw new ApiError(400, 'the request names no sandbox')
  await plane.upgrade(target, request, socket, head)
}

async function listen(server: Server, host: string, port: number): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  // Streams are silent for as long as the commands they tell of.
  server.requestTimeout = 0
  // Longer than clients keep a socket: else a slow moment lets one send into a socket that we are closing.
  server.keepAliveTimeout = 75_000
  const { address, port: taken, family } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${taken}`
}

async function close(
  server: Server,
  { sandboxes, bases, builder }: Parts,
  release: () => Promise<void>,
): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve))
  await bases.close()
  await builder.close()
  await sandboxes.close()
  server.closeAllConnections()
  await closed
  await release()
}

function statusOf(error: unknown): number {
  if (error instanceof ImageError) return 400
  return error instanceof ApiError ? error.status : 500
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
