import type { IncomingMessage, ServerResponse } from 'node:http'
import { posix } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type FileStat, isCairnError, type Workspace } from '@cairn/sdk'
import { ApiError } from '../api-error.ts'
import { readJson, sendJson, sendNothing } from '../http.ts'
import type { Volumes } from './volumes.ts'

interface ContentCall {
  readonly workspace: Workspace
  readonly path: string
  readonly query: URLSearchParams
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** `/volumecontent/<id>/{dir,path,file}`: a workspace's files in the words of E2B's volumes. */
export async function serveVolumeContent(
  volumes: Volumes,
  url: URL,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [, , id = '', kind = ''] = url.pathname.split('/')
  const token = /^Bearer\s+(\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? ''
  const workspace = volumes.open(decodeURIComponent(id), token)
  const run = routes[`${request.method} ${kind}`]
  if (run === undefined) throw new ApiError(404, 'there is no such route')
  const path = posix.resolve('/', url.searchParams.get('path') ?? '')
  try {
    await run({ workspace, path, query: url.searchParams, request, response })
  } catch (error) {
    throw toApiError(error)
  }
}

const routes: Readonly<Record<string, (call: ContentCall) => Promise<void>>> = {
  'GET dir': list,
  'POST dir': makeDirectory,
  'GET path': stat,
  'PATCH path': update,
  'DELETE path': remove,
  'GET file': read,
  'PUT file': write,
}

async function list({ workspace, path, query, response }: ContentCall): Promise<void> {
  const depth = Number(query.get('depth') ?? 1)
  const found: object[] = []
  const walk = async (directory: string, left: number): Promise<void> => {
    for await (const entry of workspace.files.list(directory)) {
      found.push(show(entry))
      if (entry.kind === 'directory' && left > 1) await walk(entry.path, left - 1)
    }
  }
  await walk(path, depth)
  sendJson(response, 200, found)
}

async function makeDirectory({ workspace, path, query, response }: ContentCall): Promise<void> {
  const mode = modeOf(query.get('mode'))
  const parents = query.get('force') === 'true'
  await workspace.files.mkdir(path, { parents, ...(mode === undefined ? {} : { mode }) })
  sendJson(response, 201, show(await workspace.files.stat(path)))
}

async function stat({ workspace, path, response }: ContentCall): Promise<void> {
  sendJson(response, 200, show(await workspace.files.stat(path)))
}

/** Owners are not changed: a workspace is mounted for the users of the sandbox. */
async function update({ workspace, path, request, response }: ContentCall): Promise<void> {
  const { mode } = await readJson(request)
  if (typeof mode === 'number') await workspace.files.chmod(path, mode)
  sendJson(response, 200, show(await workspace.files.stat(path)))
}

async function remove({ workspace, path, response }: ContentCall): Promise<void> {
  await workspace.files.remove(path, { recursive: true })
  sendNothing(response)
}

async function read({ workspace, path, response }: ContentCall): Promise<void> {
  const { size } = await workspace.files.stat(path, { follow: true })
  const content = await workspace.files.readStream(path)
  response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': size })
  await pipeline(Readable.fromWeb(content as Parameters<typeof Readable.fromWeb>[0]), response)
}

async function write({ workspace, path, query, request, response }: ContentCall): Promise<void> {
  const mode = modeOf(query.get('mode'))
  const ifAbsent = query.get('force') === 'false'
  const content = Readable.toWeb(request) as unknown as ReadableStream<Uint8Array>
  await workspace.files.write(path, content, {
    ...(ifAbsent ? { ifAbsent } : {}),
    ...(mode === undefined ? {} : { mode }),
  })
  sendJson(response, 201, show(await workspace.files.stat(path)))
}

/** Modes travel in decimal: 420 is 0644. */
function modeOf(text: string | null): number | undefined {
  return text === null ? undefined : Number(text)
}

const typeOf = { file: 'file', directory: 'directory', symlink: 'symlink' } as const

function show(entry: FileStat): object {
  const { path, kind, size, mode, uid, gid, target } = entry
  const date = (nanoseconds: string): string =>
    new Date(Number(BigInt(nanoseconds) / 1_000_000n)).toISOString()
  return {
    name: posix.basename(path),
    type: typeOf[kind as keyof typeof typeOf] ?? 'unknown',
    path,
    size,
    mode: Number.parseInt(mode, 8),
    uid,
    gid,
    atime: date(entry.atimeNs),
    mtime: date(entry.mtimeNs),
    ctime: date(entry.ctimeNs),
    ...(target === undefined ? {} : { target }),
  }
}

const statusOfErrno: Readonly<Record<string, number>> = {
  ENOENT: 404,
  ENOTDIR: 400,
  EISDIR: 400,
  EINVAL: 400,
  EEXIST: 409,
  ENOSPC: 507,
  EDQUOT: 507,
}

function toApiError(error: unknown): unknown {
  if (!isCairnError(error)) return error
  if (error.code === 'precondition_failed') return new ApiError(409, error.message)
  if (error.errno === undefined) return error
  return new ApiError(statusOfErrno[error.errno] ?? 500, error.message)
}
