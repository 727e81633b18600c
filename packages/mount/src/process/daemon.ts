import { closeSync } from 'node:fs'
import {
  type ByteString,
  CairnError,
  fromFailure,
  type Grant,
  grantOfToken,
  isToolCall,
  parseToken,
} from '@cairn/protocol'
import { now } from '../clock.ts'
import { refusing } from '../filesystem/refusing.ts'
import { statusDirectory } from '../filesystem/status-directory.ts'
import type { FuseFileSystem } from '../fuse/file-system.ts'
import { canExpire, type InitInfo } from '../fuse/init.ts'
import { loadFuseIo } from '../fuse/native.ts'
import { mountFailure } from './mount-failure.ts'
import { requestMemoryBytes } from '../fuse/request-memory.ts'
import { Notifier } from '../fuse/notifier.ts'
import { serveFuse } from '../fuse/serve.ts'
import { Mount } from '../mount.ts'
import { Contact } from '../session/contact.ts'
import type { ToolCalls } from '../tool-calls/tool-calls.ts'
import { ServerLink } from '../session/link.ts'
import { connectWebSocket } from '../session/websocket-wire.ts'
import { Channel } from './channel.ts'
import {
  type DaemonMessage,
  daemonSockets,
  type DaemonStart,
  type MountConfig,
  type SupervisorMessage,
} from './config.ts'
import { closeUnlessLost } from './close-unless-lost.ts'
import { type AnswerCommand, closeControl, serveControl } from './control.ts'
import { freshStatus, openingStatus, whatIsMissing } from './fresh-status.ts'
import { notifyingCaches } from './notifying-caches.ts'
import { readState } from './state.ts'
import { statusFiles } from './status-files.ts'
import { keepHeapTight } from './tight-heap.ts'

const progressMs = 500
/** How often an opening mount tells its supervisor what it waits for. */
const tellMs = 1000
/** A program that waits for a mount uses it at once, and a starting thread would slow it down. */
const notifierAfterMs = 100
/** That a name is not there: the server tells when it is. */
const negativeTtl = 3600

export type ToSupervisor = Channel<DaemonStart | SupervisorMessage, DaemonMessage>
type RunDaemon = (start: DaemonStart, supervisor: ToSupervisor) => Promise<void>

/** Answers the kernel for one mount, until it is unmounted. A supervisor keeps the descriptor over its life. */
async function runDaemon(start: DaemonStart, supervisor: ToSupervisor): Promise<void> {
  keepHeapTight()
  // Its supervisor listens, and has it hand in. Without a handler Node would end at once, and what is not sent with it.
  process.on('SIGTERM', () => undefined)
  const { config } = start
  const descriptors = await takeDescriptors()
  const [names, files] = [new Notifier(descriptors.fd), new Notifier(descriptors.fd)]
  const link = new ServerLink()
  const contact = new Contact()
  const opening = Mount.open({
    connect: contact.through(connectWebSocket(config.server, config.key, { link })),
    contact,
    workspace: config.workspaceId ?? config.workspace,
    branch: config.branch,
    at: config.at,
    path: config.path as ByteString,
    readOnly: config.readOnly,
    grant: grantOf(config.key),
    sharedLocks: config.sharedLocks,
    durability: config.durability,
    profile: config.profile,
    cacheDirectory: config.cacheDirectory,
    cacheBytes: config.cacheBytes,
    memoryBytes: config.memoryBytes,
    isServerHere: isLoopback(config.server),
    uid: config.uid,
    gid: config.gid,
    processes: config.toolCalls ? '/proc' : undefined,
    caches: (kernel) => notifyingCaches({ names, files }, kernel),
    onAccess: (isAllowed) => void use(isAllowed),
  })
  const whole = fileSystemOf(opening, config, link)
  whole.catch(() => undefined)
  const use = async (isAllowed: boolean): Promise<void> => {
    const [server, fs] = await Promise.all([serving, whole])
    server.use(isAllowed ? fs : refusing(fs))
  }
  opening.catch(() => undefined)
  supervisor.listen(({ type }) => {
    if (type === 'stop') void unmountDrained(opening, supervisor)
  })
  // Before the server has answered: whom the daemon before this one owed an answer could not even be killed until then.
  const serving = serveKernel(descriptors, whole, opening, names, { start, supervisor })
  const kernel = await serving
  let isUnmounted = false
  const closed = Promise.all([opening, kernel.closed]).then(([mount]) => {
    isUnmounted = true
    return closeUnlessLost(mount, config.cacheDirectory)
  })
  closed.catch(() => undefined)
  let isOpening = true
  const control = serveControl(config.directory, async (request, progress, gone) => {
    if (isOpening && request.command === 'status')
      return { ...processesOf(config), ...openingStatus(link, config) }
    const daemon = { mount: await opening, start, supervisor, link, closed, isUnmounted }
    return answer(daemon, request, progress, gone)
  })
  const telling = setInterval(
    () => supervisor.send({ type: 'waiting', what: whatIsMissing(false, link, config)! }),
    tellMs,
  )
  await opening.finally(() => clearInterval(telling))
  isOpening = false
  supervisor.send({ type: 'ready' })
  const later = setTimeout(() => names.start(), notifierAfterMs)
  await closed
  clearTimeout(later)
  await closeControl(control)
  await Promise.all([names.close(), files.close()])
}

/** The grant of a token; undefined for an owner's key. */
function grantOf(key: string): Grant | undefined {
  const token = parseToken(key)
  return token && grantOfToken(token)
}

/** As far as the server takes it: what it refuses stays in the spool. */
async function unmountDrained(opening: Promise<Mount>, supervisor: ToSupervisor): Promise<void> {
  const mount = await opening
  await mount.drain().catch((error: unknown) => mount.note(error))
  supervisor.send({ type: 'unmount' })
}

interface Descriptors {
  /** /dev/fuse. */
  readonly fd: number
  /** The memory for requests that were read: it outlives this process. */
  readonly memory: ArrayBuffer
}

/** As the supervisor has them. */
export async function takeDescriptors(): Promise<Descriptors> {
  const io = await loadFuseIo()
  const [fd, memoryFd] = [io.recvFd(daemonSockets.descriptor), io.recvFd(daemonSockets.descriptor)]
  const memory = memoryFd < 0 ? memoryFd : io.mapFile(memoryFd, requestMemoryBytes, undefined)
  if (fd < 0 || typeof memory === 'number')
    throw new Error(`cannot take over the mount: errno ${-Math.min(fd, Number(memory))}`)
  closeSync(memoryFd)
  return { fd, memory }
}

async function fileSystemOf(
  opening: Promise<Mount>,
  config: MountConfig,
  link: ServerLink,
): Promise<FuseFileSystem> {
  const mount = await opening
  return statusDirectory(mount.fileSystem, statusFiles(mount, config, link), now, mount.fsmonitor)
}

function serveKernel(
  { fd, memory }: Descriptors,
  fs: Promise<FuseFileSystem>,
  opening: Promise<Mount>,
  notifier: Notifier,
  { start: { config, init }, supervisor }: Pick<Daemon, 'start' | 'supervisor'>,
): ReturnType<typeof serveFuse> {
  if (init !== undefined) notifier.canExpire = canExpire(init as InitInfo)
  return serveFuse(fd, fs, {
    memory,
    negativeTtl,
    locks: config.sharedLocks,
    onInit(info) {
      notifier.canExpire = canExpire(info)
      supervisor.send({ type: 'init', info })
    },
    onError: (error, operation) => void opening.then((mount) => mount.note(error, operation)),
    onLateChange: ({ nodeid, name }) =>
      name === undefined
        ? notifier.invalidateInode(nodeid)
        : notifier.invalidateEntry(nodeid, name),
    ...(init === undefined ? {} : { resumed: init as InitInfo }),
  })
}

interface Daemon {
  readonly mount: Mount
  readonly start: DaemonStart
  readonly supervisor: ToSupervisor
  readonly link: ServerLink
  readonly closed: Promise<void>
  readonly isUnmounted: boolean
}

async function answer(
  { mount, start: { config }, supervisor, link, closed, isUnmounted }: Daemon,
  ...[{ command, toolCall, error, keepsLocal }, progress, gone]: Parameters<AnswerCommand>
): Promise<unknown> {
  const { mountPoint, workspace, branch, at } = config
  if (command === 'status') {
    const status = await freshStatus(mount, link, config)
    return { mountPoint, workspace, branch, at, ...processesOf(config), ...status, isUnmounted }
  }
  if (command === 'begin-call' || command === 'end-call')
    return markCalls(mount.toolCalls, command, toolCall)
  if (command === 'note-error') return mount.note(error)
  if (command === 'unmount') {
    mount.keepsLocal = keepsLocal ?? false
    supervisor.send({ type: 'unmounting' })
  }
  const report = setInterval(() => {
    const { pendingOps, pendingBytes } = mount.status
    progress({ type: 'progress', pendingOps, pendingBytes })
  }, progressMs)
  try {
    await mount.drain()
    // The caller may have given up meanwhile: then everything stays as it was.
    gone.throwIfAborted()
    if (command === 'unmount') await (isUnmounted ? closed : unmounted(supervisor, closed))
  } catch (error) {
    mount.keepsLocal = false
    throw error
  } finally {
    clearInterval(report)
  }
  return mount.status
}

/** Gives whether it is the call of the whole mount now, or was until now. */
function markCalls(
  toolCalls: ToolCalls,
  command: 'begin-call' | 'end-call',
  toolCall: string | undefined,
): boolean {
  if (!isToolCall(toolCall))
    throw new CairnError('invalid_argument', {
      what: 'mark the mount with a tool call',
      reason: `its id has 1 to 256 visible ASCII characters; got '${toolCall ?? ''}'`,
    })
  if (command === 'end-call') return toolCalls.end(toolCall)
  toolCalls.begin(toolCall)
  return true
}

/** Which supervisor it has stands in the state: it may have been handed on. */
export function processesOf({ directory }: MountConfig): {
  readonly pid: number
  readonly supervisorPid: number | undefined
} {
  return { pid: process.pid, supervisorPid: readState(directory)?.supervisor.pid }
}

/** The supervisor does it: the process that answers the kernel must not wait for it. */
export function unmounted(supervisor: ToSupervisor, closed: Promise<void>): Promise<void> {
  const busy = supervisor
    .next((message) => message.type === 'busy')
    .then(({ failure }) => Promise.reject(fromFailure(failure)))
  supervisor.send({ type: 'unmount' })
  return Promise.race([closed, busy])
}

/** The life of a daemon's process: told by its supervisor what to be. Gives its exit code. */
export async function daemonMain(run: RunDaemon = runDaemon): Promise<number> {
  const supervisor: ToSupervisor = new Channel(daemonSockets.channel)
  // Without a supervisor nothing could restart or unmount it.
  const abandoned = supervisor.closed.then(() => 1)
  return Promise.race([abandoned, servedToTheEnd(supervisor, run)])
}

async function servedToTheEnd(supervisor: ToSupervisor, run: RunDaemon): Promise<number> {
  try {
    await run(await supervisor.next((message) => message.type === 'start'), supervisor)
    supervisor.send({ type: 'done' })
    return 0
  } catch (error) {
    supervisor.send({ type: 'failed', failure: mountFailure(error) })
    return 1
  } finally {
    await supervisor.end()
  }
}

function isLoopback(server: string): boolean {
  return /^(127\..*|localhost|\[::1\])$/.test(new URL(server).hostname)
}
