import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import busboy from 'busboy'
import type { AgentEntry } from '../agent/entry.ts'
import { ApiError } from '../api-error.ts'
import { sendJson } from '../http.ts'
import type { EnvdCaller } from './caller.ts'

const textPartBytesMax = 64 << 20
const metadataKeyBytesMax = 246
const metadataBytesMax = 4096

export async function upload(
  caller: EnvdCaller,
  url: URL,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = url.searchParams.get('path')
  const metadata = metadataOf(request.headers)
  const type = request.headers['content-type'] ?? ''
  const content = decoded(request)
  const target = { caller, path, metadata }
  let entries: AgentEntry[]
  if (type.startsWith('multipart/form-data')) entries = await takeForm(target, content, type)
  else if (type.startsWith('application/octet-stream')) entries = [await takeBytes(target, content)]
  else throw new ApiError(400, `a file is not sent as '${type}'`)
  if (entries.length === 0) throw new ApiError(400, 'there is no part named file')
  const hasMetadata = Object.keys(metadata).length > 0
  const files = entries.map(({ path: written, name }) => ({
    path: written,
    name,
    type: 'file',
    ...(hasMetadata ? { metadata } : {}),
  }))
  sendJson(response, 200, files)
}

interface Target {
  readonly caller: EnvdCaller
  readonly path: string | null
  readonly metadata: Readonly<Record<string, string>>
}

async function takeBytes(target: Target, content: Readable): Promise<AgentEntry> {
  if (target.path === null) throw new ApiError(400, 'the address names no path')
  return store(target, target.path, content)
}

async function store(
  { caller, metadata }: Target,
  path: string,
  content: AsyncIterable<Uint8Array>,
): Promise<AgentEntry> {
  const owner = await caller.user()
  return caller.machine.agents.write(await caller.resolve(path), owner, metadata, content)
}

/** The parts come one after the other, and each is stored while it comes. */
function takeForm(target: Target, content: Readable, type: string): Promise<AgentEntry[]> {
  const form = busboy({
    headers: { 'content-type': type },
    preservePath: true,
    limits: { fieldSize: textPartBytesMax },
  })
  const seen = new Set<string>()
  const stored: Promise<AgentEntry>[] = []
  const take = (
    filename: string | undefined,
    part: AsyncIterable<Uint8Array>,
  ): Promise<AgentEntry> => {
    const path = target.path ?? filename ?? ''
    const writing = seen.has(path)
      ? Promise.reject(new ApiError(400, `${path} is there twice`))
      : store(target, path, part)
    seen.add(path)
    stored.push(writing)
    return writing
  }
  return new Promise((resolve, reject) => {
    form.on('file', (name, part, { filename }) => {
      // What is not stored has to flow off, or the form never ends; why it was not is told at the end.
      const flowOff = (): void => void part.resume()
      // Nor may a consumer that stops reading destroy it.
      if (name === 'file') take(filename, part.iterator({ destroyOnReturn: false })).catch(flowOff)
      else flowOff()
    })
    // A part without a file name comes as text.
    form.on('field', (name, value) => {
      if (name === 'file') take(undefined, Readable.from([Buffer.from(value)])).catch(() => {})
    })
    form.on('close', () => void Promise.all(stored).then(resolve, reject))
    form.on('error', (error) => reject(new ApiError(400, String(error))))
    content.on('error', (error) => reject(new ApiError(400, error.message)))
    content.pipe(form)
  })
}

function decoded(request: IncomingMessage): Readable {
  const encoding = request.headers['content-encoding'] ?? 'identity'
  if (encoding === 'identity') return request
  if (encoding !== 'gzip') throw new ApiError(400, `the encoding ${encoding} is not understood`)
  const plain = createGunzip()
  request.on('error', (error) => plain.destroy(error))
  request.on('aborted', () => plain.destroy(new Error('the upload was cut off')))
  return request.pipe(plain)
}

function metadataOf(headers: IncomingHttpHeaders): Record<string, string> {
  const metadata: Record<string, string> = {}
  let size = 0
  for (const [header, value] of Object.entries(headers)) {
    if (!header.startsWith('x-metadata-')) continue
    const key = header.slice('x-metadata-'.length)
    const text = String(value)
    size += 'user.e2b.'.length + key.length + text.length
    if (key === '' || key.length > metadataKeyBytesMax || !/^[\x20-\x7e]*$/.test(text))
      throw new ApiError(400, `the metadata ${key} is not printable ASCII, or its name is too long`)
    metadata[key] = text
  }
  if (size > metadataBytesMax) throw new ApiError(400, 'there is too much metadata')
  return metadata
}
