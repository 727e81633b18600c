import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Server as TlsServer } from 'node:tls'
import { Blobs, Nodes, type Stores } from '@cairn/core'
import { CairnError, isCairnError } from '@cairn/protocol'
import type { FastifyInstance } from 'fastify'
import { removeExports, removeUnusedExports } from './git/exports.ts'
import { SearchIndex } from './search/index/search-index.ts'
import { ordinarySqlMs } from './sql/run-sql.ts'
import { SqlProcesses } from './sql/sql-process.ts'
import { TreeDatabases } from './sql/tree-databases.ts'
import { ClientFiles } from './http/client-files.ts'
import { type AppParts, buildApp } from './http/app.ts'
import { FailedAttempts } from './access/attempts.ts'
import type { AuthenticatorParts } from './access/authenticator.ts'
import { AccessWatch } from './access/access-watch.ts'
import { OwnerKeys } from './access/owner-keys.ts'
import { TokenKeeper } from './access/token-keeper.ts'
import type { BodyPace } from './http/body.ts'
import { isLoopback, loopbackHosts } from './access/hosts.ts'
import { serveMetrics } from './http/serve-metrics.ts'
import { type Certificate, followCertificate, readCertificate, type TlsFiles } from './http/tls.ts'
import { Collecting, type CollectingParts } from './jobs/background.ts'
import { type KeepTimes, ordinaryKeepTimes } from './workspaces/keep-times.ts'
import { Trimming } from './jobs/trimming.ts'
import { type MasterKeys, openMasterKey } from './access/master-key.ts'
import { Metrics } from './metrics.ts'
import { PeerProof } from './peers/peer-proof.ts'
import { parsePeerAddress, Peers } from './peers/peers.ts'
import { ensureOwnerKey, owner } from './access/first-owner-key.ts'
import { loopPacer } from './ports/pacer.ts'
import { contentWorker, sha256 } from './ports/content-worker.ts'
import { openSessionDoor } from './sessions/door.ts'
import { openStorage, type Storage } from './storage/open.ts'
import { openVaultDoor } from './open-vault.ts'
import { type Clock, systemClock } from './ports/clock.ts'
import { WorkspaceKeeper } from './workspaces/workspace-keeper.ts'

export interface ServeOptions {
  readonly data: string
  /** `host:port`; port 0 takes a free one. */
  readonly listen: string
  readonly meta?: string
  readonly objects?: string
  /** Structured log lines; silence by default. */
  readonly log?: { write(line: string): void }
  /** Hears of what works and should not be left so; a warning of the process by default. */
  readonly warn?: (message: string) => void
  readonly leaseMs?: number
  /** How long unreachable data stays; a day, and a week for deleted things. */
  readonly keep?: KeepTimes
  /** How fast bodies must come; see docs/reference/http.md. */
  readonly pace?: BodyPace
  /** Master keys, a file that holds them, or a command that prints them; made in the data directory unless given. */
  readonly masterKey?: string | undefined
  readonly masterKeyFile?: string | undefined
  readonly masterKeyCommand?: string | undefined
  /** Who is slowed down for wrong keys. */
  readonly attempts?: FailedAttempts
  /** Speaks TLS; the files are read again when they change. */
  readonly tls?: TlsFiles | undefined
  /** Names other than loopback's that a server on loopback answers to. */
  readonly allowHosts?: readonly string[]
  /** `host:port` of metrics without a key; otherwise they take an owner's. */
  readonly metricsListen?: string | undefined
  /** Where other servers on the same stores reach this one; see docs/guides/operations.md. */
  readonly peerAddress?: string | undefined
  /** Paths of what /install hands out, by names as `clientName` has them. */
  readonly clientFiles?: ReadonlyMap<string, string>
  /** What the first start on empty stores calls the workspace that it makes; none unless given. */
  readonly firstWorkspace?: string
}

export interface Serving {
  readonly url: string
  /** Where metrics need no key, if there is such an address. */
  readonly metricsUrl: string | undefined
  /** Only when this start made it. */
  readonly ownerKey: string | undefined
  /** Only when this start made it. */
  readonly firstWorkspace: string | undefined
  /** Answers what is under way, folds nothing, loses nothing: everything acknowledged is in the log. */
  readonly close: () => Promise<void>
}

const ordinaryLeaseMs = 10_000
const nodeCacheBytes = 128 * 2 ** 20

/** Runs the whole server in this process. */
export async function serve(options: ServeOptions): Promise<Serving> {
  const address = parseListen(options.listen)
  const metrics = new Metrics()
  const warn = options.warn ?? ((message) => process.emitWarning(message))
  const certificate = options.tls && (await readCertificate(options.tls))
  if (!certificate && !isLoopback(address.host)) warn(unencrypted(options.listen))
  const storage = await openStorage({
    data: options.data,
    ...(options.meta === undefined ? {} : { meta: options.meta }),
    ...(options.objects === undefined ? {} : { objects: options.objects }),
    warn,
    observe: ({ store, operation, outcome, seconds }) =>
      metrics.stores.observe({ store, operation, outcome }, seconds),
  })
  try {
    const ownerKey = await ensureOwnerKey(storage.keys, options.data)
    const master = await openKeys(options)
    const { close, ...served } = await listen(storage, master, metrics, {
      ...options,
      address,
      certificate,
      warn,
      isFirstStart: ownerKey !== undefined,
    })
    return {
      ...served,
      ownerKey,
      close: async () => {
        await close()
        await storage.close()
      },
    }
  } catch (error) {
    await storage.close()
    throw error
  }
}

function openKeys(options: ServeOptions): Promise<MasterKeys> {
  const { data, meta, masterKey: key, masterKeyFile: file, masterKeyCommand: command } = options
  return openMasterKey({ data, key, file, command, isShared: meta !== undefined })
}

interface ListenOptions extends ServeOptions {
  readonly address: Address
  readonly certificate: Certificate | undefined
  readonly warn: (message: string) => void
  readonly isFirstStart: boolean
}

async function listen(
  storage: Storage,
  master: MasterKeys,
  metrics: Metrics,
  options: ListenOptions,
): Promise<Omit<Serving, 'ownerKey'>> {
  const { log, pace, address, certificate, leaseMs = ordinaryLeaseMs } = options
  const { keep = ordinaryKeepTimes, allowHosts = [] } = options
  const clock = systemClock()
  const peers = openPeers(master, clock, options)
  const workspaces = openWorkspaces(storage, metrics, clock, { ...options, peers })
  const onIndexFailure = (error: unknown): void =>
    app.log.error(error, 'cannot index files for searches')
  const { forget, tidy, close: closeCaches, ...caches } = openCaches(options.data, onIndexFailure)
  const collecting = new Collecting({
    storage,
    workspaces,
    clock,
    keep,
    observe: metrics.collecting,
    forget,
    tidy,
    onFailure: (error) => app.log.error(error, 'cannot collect garbage'),
  })
  const trimming = new Trimming({
    workspaces,
    clock,
    onFailure: (error) => app.log.error(error, 'cannot trim a log'),
  })
  const { checkReady, uploads } = storage
  const access = openAccess(storage, master, clock, options)
  const requireHost = isLoopback(address.host) ? loopbackHosts(allowHosts) : undefined
  const app = buildApp({
    workspaces,
    uploads,
    ...access,
    requireHost,
    certificate,
    peers,
    ...caches,
    clients: new ClientFiles(options.clientFiles ?? new Map()),
    collect: (options) => collecting.run(options),
    vault: openVaultDoor(storage, master, clock),
    metrics,
    checkReady,
    ...(log ? { logStream: log } : {}),
    ...(pace ? { pace } : {}),
  })
  const { relayed: observeRelayed } = metrics
  const sessions = { workspaces, ...access, requireHost, leaseMs, peers, observeRelayed }
  const closeSessions = openSessionDoor(app.server, sessions)
  const beside = await serveBeside(app, metrics, options)
  const firstWorkspace = await makeFirstWorkspace(workspaces, options)
  await app.listen(address)
  collecting.start()
  trimming.start()
  return {
    url: urlOf(app, options),
    metricsUrl: beside.metricsUrl,
    firstWorkspace,
    close: async () => {
      closeSessions()
      access.watch.close()
      await Promise.all([app.close(), beside.close(), collecting.stop(), trimming.stop()])
      await closeCaches()
    },
  }
}

/** What a server keeps below its data directory and can make again. */
function openCaches(
  data: string,
  onIndexFailure: (error: unknown) => void,
): Pick<AppParts, 'searchIndex' | 'sql' | 'gitDirectory'> &
  Pick<CollectingParts, 'forget' | 'tidy'> & { readonly close: () => Promise<void> } {
  const gitDirectory = join(data, 'git')
  const searchIndex = new SearchIndex({
    directory: join(data, 'search'),
    onFailure: onIndexFailure,
  })
  const processes = new SqlProcesses()
  const databases = new TreeDatabases(join(data, 'sql'))
  return {
    gitDirectory,
    searchIndex,
    sql: { processes, databases, timeMs: ordinarySqlMs },
    forget: async (workspace) => {
      await removeExports(gitDirectory, workspace)
      await searchIndex.forget(workspace)
    },
    tidy: async () => {
      await removeUnusedExports(gitDirectory, Date.now())
      await searchIndex.tidy()
    },
    close: async () => {
      await searchIndex.close()
      processes.close()
      databases.close()
    },
  }
}

function openWorkspaces(
  storage: Storage,
  metrics: Metrics,
  clock: Clock,
  {
    meta,
    leaseMs = ordinaryLeaseMs,
    keep = ordinaryKeepTimes,
    peers,
  }: ListenOptions & { readonly peers: Peers | undefined },
): WorkspaceKeeper {
  const { leases: store, sessionNotes: notes } = storage
  return new WorkspaceKeeper({
    directory: storage.workspaces,
    storesOf: storesByPool(storage),
    clock,
    leases: { store, notes, clock, leaseMs, lookMs: 50, address: peers?.address },
    locks: storage.locks,
    traces: storage.traces,
    observe: metrics.work,
    layers: storage.layers,
    // An embedded store has one server: the lock on its directory sees to that.
    isShared: meta !== undefined,
    keep,
  })
}

/** Undefined where this server works alone, or beside others without an address of its own. */
function openPeers(
  master: MasterKeys,
  clock: Clock,
  { peerAddress, meta, warn }: ListenOptions,
): Peers | undefined {
  if (peerAddress === undefined) return undefined
  const address = parsePeerAddress(peerAddress, meta !== undefined)
  // Throws where there is none: without it no peer would believe this server.
  master.derive('peers')
  return new Peers({ address, proof: new PeerProof(master, clock), clock, warn })
}

/** Undefined where there is one already: servers that share a database start with what the others made. */
async function makeFirstWorkspace(
  workspaces: WorkspaceKeeper,
  { firstWorkspace: name, isFirstStart }: ListenOptions,
): Promise<string | undefined> {
  if (name === undefined || !isFirstStart) return undefined
  if ((await workspaces.list(owner, undefined, 1)).items.length > 0) return undefined
  try {
    return (await workspaces.create(owner, name)).name
  } catch (error) {
    if (isCairnError(error) && error.code === 'workspace_exists') return undefined
    throw error
  }
}

/** Who comes in, and what ends when they may no longer. */
function openAccess(
  storage: Storage,
  master: MasterKeys,
  clock: Clock,
  { attempts = new FailedAttempts() }: ServeOptions,
): AuthenticatorParts & { readonly keys: OwnerKeys; readonly watch: AccessWatch } {
  const keys = new OwnerKeys(storage.keys, clock)
  const tokens = new TokenKeeper({ store: storage.tokens, master, clock })
  return { findKey: keys.find, keys, tokens, watch: new AccessWatch(tokens, keys), attempts }
}

/** What goes on beside the door: a new certificate is taken into use, and metrics are told at their own address. */
async function serveBeside(
  app: FastifyInstance,
  metrics: Metrics,
  { tls, metricsListen, warn }: ListenOptions,
): Promise<Pick<Serving, 'metricsUrl' | 'close'>> {
  const served = metricsListen ? await serveMetrics(metrics, parseListen(metricsListen)) : undefined
  const stop = tls && followCertificate(app.server as unknown as TlsServer, tls, warn)
  return {
    metricsUrl: served?.url,
    close: async () => {
      stop?.()
      await served?.close()
    },
  }
}

function urlOf(app: FastifyInstance, { address, certificate }: ListenOptions): string {
  const { port } = app.server.address() as AddressInfo
  const host = address.host.includes(':') ? `[${address.host}]` : address.host
  return `${certificate ? 'https' : 'http'}://${host}:${port}`
}

function unencrypted(listen: string): string {
  return `keys and files can be read on the network, because this server listens on ${listen} without TLS. Give --tls-cert FILE and --tls-key FILE, or put a proxy with TLS before it`
}

interface Address {
  readonly host: string
  readonly port: number
}

/** One cache of nodes for one pool. */
function storesByPool(storage: Storage): (pool: string) => Stores {
  const known = new Map<string, Stores>()
  return (pool) => {
    let stores = known.get(pool)
    if (!stores) {
      const store = storage.nodes(pool)
      stores = {
        nodes: new Nodes({ store, hash: sha256, cacheBytesMax: nodeCacheBytes, pacer: loopPacer }),
        blobs: new Blobs(storage.blobs(pool), contentWorker),
        log: storage.log,
        refs: storage.refs,
      }
      known.set(pool, stores)
    }
    return stores
  }
}

function parseListen(listen: string): Address {
  const match = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(listen)
  const port = Number(match?.[3])
  if (!match || port > 65_535)
    throw new CairnError('invalid_argument', {
      what: `listen on '${listen}'`,
      reason: 'want HOST:PORT, such as 127.0.0.1:7070',
    })
  return { host: match[1] ?? (match[2] === '' ? '127.0.0.1' : match[2]!), port }
}
