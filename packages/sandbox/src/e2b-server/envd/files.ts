import type { IncomingMessage, ServerResponse } from 'node:http'
import { AgentError } from '../agent/entry.ts'
import { ApiError } from '../api-error.ts'
import { readJson, sendJson } from '../http.ts'
import { BadPathError, type EnvdCaller, UnknownUserError } from './caller.ts'
import { download } from './download.ts'
import { upload } from './upload.ts'

const statusOfErrno: Readonly<Record<string, number>> = {
  ENOENT: 404,
  EISDIR: 400,
  ENOTDIR: 400,
  EINVAL: 400,
  ENAMETOOLONG: 400,
  ENOSPC: 507,
  EDQUOT: 507,
}

/** `/files` and what is below it. */
export async function serveFiles(
  caller: EnvdCaller,
  url: URL,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    if (url.pathname === '/files/compose' && request.method === 'POST')
      await compose(caller, request, response)
    else if (url.pathname !== '/files') throw new ApiError(404, 'there is no such route')
    else if (request.method === 'GET' || request.method === 'HEAD')
      await download(caller, url, request, response)
    else if (request.method === 'POST') await upload(caller, url, request, response)
    else throw new ApiError(405, `${request.method} is not a way to use files`)
  } catch (error) {
    throw toApiError(error)
  }
}

async function compose(
  caller: EnvdCaller,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readJson(request)
  const sources = body['source_paths']
  if (!Array.isArray(sources) || sources.length === 0)
    throw new ApiError(400, 'source_paths must be a list of paths')
  const resolved = await Promise.all(sources.map((path) => caller.resolve(String(path))))
  if (typeof body['destination'] !== 'string') throw new ApiError(400, 'destination must be a path')
  const destination = await caller.resolve(body['destination'])
  const entry = await caller.machine.agents.compose(resolved, destination, await caller.user())
  sendJson(response, 200, { path: entry.path, name: entry.name, type: 'file' })
}

function toApiError(error: unknown): unknown {
  if (error instanceof AgentError)
    return new ApiError(statusOfErrno[error.code] ?? 500, error.message)
  if (error instanceof UnknownUserError) return new ApiError(401, error.message)
  if (error instanceof BadPathError) return new ApiError(400, error.message)
  return error
}
