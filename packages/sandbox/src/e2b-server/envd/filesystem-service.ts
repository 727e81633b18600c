import { posix } from 'node:path'
import { RpcError } from '../connect/rpc-error.ts'
import type { Service, ServerStream, Unary } from '../connect/service.ts'
import type { EnvdCaller } from './caller.ts'
import { entryInfo } from './entry-info.ts'
import { rpcErrors } from './rpc-errors.ts'
import type { WatchEvent, WatchRequest } from './watchers.ts'

type Fields = Readonly<Record<string, unknown>>

const text = (request: Fields, name: string): string => {
  const value = request[name]
  return typeof value === 'string' ? value : ''
}

const stat: Unary<EnvdCaller> = async (request, { context }) => {
  const path = await context.resolve(text(request, 'path'))
  return { entry: entryInfo(await context.machine.agents.stat(path)) }
}

const listDir: Unary<EnvdCaller> = async (request, { context }) => {
  const path = await context.resolve(text(request, 'path'))
  const depth = Math.max(1, Number(request['depth'] ?? 1))
  return { entries: (await context.machine.agents.list(path, depth)).map(entryInfo) }
}

const makeDir: Unary<EnvdCaller> = async (request, { context }) => {
  const path = await context.resolve(text(request, 'path'))
  const { made, entry } = await context.machine.agents.mkdir(path, await context.user())
  if (!made) throw new RpcError('already_exists', `${path}: the directory is there already`)
  return { entry: entryInfo(entry) }
}

const move: Unary<EnvdCaller> = async (request, { context }) => {
  const source = await context.resolve(text(request, 'source'))
  const destination = await context.resolve(text(request, 'destination'))
  const entry = await context.machine.agents.move(source, destination, await context.user())
  return { entry: entryInfo(entry) }
}

const remove: Unary<EnvdCaller> = async (request, { context }) => {
  await context.machine.agents.remove(await context.resolve(text(request, 'path')))
  return {}
}

const watchDir: ServerStream<EnvdCaller> = async (
  request,
  send,
  { context, timeoutMs, signal },
) => {
  const options = await watchOptions(request, context)
  const watch = await context.machine.watchers.watch(options)
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => watch.end(), timeoutMs)
  signal.addEventListener('abort', () => watch.end())
  try {
    await send({ start: {} })
    for await (const event of watch.events)
      await send({ filesystem: await describe(event, options, context) })
  } finally {
    clearTimeout(timer)
    watch.end()
  }
}

const createWatcher: Unary<EnvdCaller> = async (request, { context }) => ({
  watcherId: await context.machine.watchers.poll(await watchOptions(request, context)),
})

const getWatcherEvents: Unary<EnvdCaller> = async (request, { context }) => {
  const id = text(request, 'watcherId')
  const taken = context.machine.watchers.take(id)
  if (taken === undefined) throw new RpcError('not_found', `there is no watcher ${id}`)
  const { events, options } = taken
  return { events: await Promise.all(events.map((event) => describe(event, options, context))) }
}

const removeWatcher: Unary<EnvdCaller> = async (request, { context }) => {
  const id = text(request, 'watcherId')
  if (!context.machine.watchers.endPoll(id))
    throw new RpcError('not_found', `there is no watcher ${id}`)
  return {}
}

async function watchOptions(request: Fields, caller: EnvdCaller): Promise<WatchRequest> {
  return {
    path: await caller.resolve(text(request, 'path')),
    recursive: request['recursive'] === true,
    allowNetworkMounts: request['allowNetworkMounts'] === true,
    includeEntry: request['includeEntry'] === true,
  }
}

/** With the entry where that was asked for and there still is one. */
async function describe(
  { name, type }: WatchEvent,
  { path: top, includeEntry }: WatchRequest,
  { machine }: EnvdCaller,
): Promise<object> {
  const event = { name, type: `EVENT_TYPE_${type}` }
  if (!includeEntry || type === 'REMOVE' || type === 'RENAME') return event
  try {
    return { ...event, entry: entryInfo(await machine.agents.stat(posix.join(top, name))) }
  } catch {
    return event
  }
}

const guard =
  (method: Unary<EnvdCaller>): Unary<EnvdCaller> =>
  (request, call) =>
    rpcErrors(() => method(request, call))

export const filesystemService: Service<EnvdCaller> = {
  unary: {
    Stat: guard(stat),
    ListDir: guard(listDir),
    MakeDir: guard(makeDir),
    Move: guard(move),
    Remove: guard(remove),
    CreateWatcher: guard(createWatcher),
    GetWatcherEvents: guard(getWatcherEvents),
    RemoveWatcher: guard(removeWatcher),
  },
  serverStream: {
    WatchDir: (request, send, call) => rpcErrors(() => watchDir(request, send, call)),
  },
}
