import { hash, randomUUID } from 'node:crypto'
import { blockBytes } from '@cairn/core'
import { CairnError, type Upload } from '@cairn/protocol'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { writeFile } from '../../files/changes.ts'
import { type Piece, receiveBlock, requireLength, storeBlock } from '../../files/receive.ts'
import type { UploadedBlock, UploadStore } from '../../ports/upload-store.ts'
import type { Workspaces } from '../../workspaces/workspaces.ts'
import { arriving } from '../arrival.ts'
import { bodyOf, openTarget, type Target } from '../context.ts'
import { Fields } from '../fields.ts'
import { readJson } from '../json-body.ts'
import { pathOfQuery, type PathQuery, pathQuery } from '../path-query.ts'
import { branchQuery, objectSchema, workspaceParams } from '../schema.ts'
import { change } from './change-files.ts'

const url = '/v1/workspaces/:workspace/uploads'
const keptMs = 24 * 60 * 60 * 1000
const blocksMax = 65_536

const params = objectSchema(
  {
    ...workspaceParams.properties,
    upload: { type: 'string', maxLength: 64 },
    number: { type: 'integer', minimum: 0, maximum: blocksMax - 1 },
  },
  ['workspace'],
)
const querystring = objectSchema(branchQuery)
const config = { access: ['write'] } as const

interface UploadParams {
  readonly upload: string
  readonly number: number
}

export function uploadRoutes(
  app: FastifyInstance,
  workspaces: Workspaces,
  uploads: UploadStore,
): void {
  app.post(
    url,
    { config, schema: { summary: 'Begin an upload in blocks', params, querystring } },
    async (request, reply): Promise<Upload> => {
      const { workspace, asker } = await openTarget(workspaces, request)
      const [id, now] = [`up_${randomUUID()}${markOf(asker)}`, workspace.clock.nowMs()]
      await uploads.removeOlder(workspace.info.id, now - keptMs)
      await uploads.create(workspace.info.id, id, now)
      void reply.code(201)
      return { id, blockBytes, blocks: [] }
    },
  )

  blockRoute(app, workspaces, uploads)

  app.get<{ Params: UploadParams }>(
    `${url}/:upload`,
    { config, schema: { summary: 'Which blocks have arrived', params, querystring } },
    async (request): Promise<Upload> => {
      await openUpload(workspaces, uploads, request)
      const { upload: id } = request.params
      return { id, blockBytes, blocks: (await uploads.blocks(id)).map(({ number }) => number) }
    },
  )

  app.post<{ Params: UploadParams }>(
    `${url}/:upload/complete`,
    { config, schema: { summary: 'Make a file of the blocks', params, querystring } },
    async (request) => {
      const target = await openTarget(workspaces, request)
      const { upload } = request.params
      const isThere = await isOwn(uploads, target, upload)
      const blocks = await uploads.blocks(upload)
      const { receipt, isMade } = await complete(
        target,
        isThere ? blocks : upload,
        await readJson(bodyOf(request)),
      )
      // A repeated key gives the answer of the upload it was first sent with, which may have been another one.
      if (isMade) await uploads.remove(upload)
      return receipt
    },
  )

  app.delete<{ Params: UploadParams }>(
    `${url}/:upload`,
    { config, schema: { summary: 'Forget an upload', params, querystring } },
    async (request, reply) => {
      await openUpload(workspaces, uploads, request)
      await uploads.remove(request.params.upload)
      void reply.code(204)
    },
  )
}

function blockRoute(app: FastifyInstance, workspaces: Workspaces, uploads: UploadStore): void {
  app.put<{ Params: UploadParams; Querystring: PathQuery }>(
    `${url}/:upload/blocks/:number`,
    {
      config,
      schema: {
        summary: 'Send one block; with ?path, of what will replace the file there',
        params,
        querystring: objectSchema({ ...branchQuery, ...pathQuery }),
      },
    },
    async (request, reply) => {
      const target = await openUpload(workspaces, uploads, request)
      const { upload, number } = request.params
      const contentLength = request.headers['content-length']
      requireLength(contentLength, blockBytes)
      const before = async (): Promise<number> => {
        const others = (await uploads.blocks(upload)).filter((block) => block.number !== number)
        return others.reduce((sum, { size }) => sum + size, 0)
      }
      const path = pathOfQuery(request.query)
      const body = bodyOf(request)
      const bytes = await receiveBlock(
        body && arriving(target, body, { contentLength, path, before }),
      )
      const data = await storeBlock(bytes, target.workspace.stores.blobs)
      const blob = data?.type === 'blob' ? { id: data.id, length: data.length } : undefined
      const block = { number, size: bytes.length, blob }
      if (!(await uploads.putBlock(upload, block))) throw missing(upload)
      void reply.code(204)
    },
  )
}

async function openUpload(
  workspaces: Workspaces,
  uploads: UploadStore,
  request: FastifyRequest,
): Promise<Target> {
  const target = await openTarget(workspaces, request)
  const { upload } = request.params as UploadParams
  if (await isOwn(uploads, target, upload)) return target
  throw missing(upload)
}

/** What a token uploads is there for it alone, and for the owner. */
async function isOwn(
  uploads: UploadStore,
  { workspace, asker }: Target,
  upload: string,
): Promise<boolean> {
  return upload.endsWith(markOf(asker)) && uploads.exists(workspace.info.id, upload)
}

function markOf({ scope }: Target['asker']): string {
  return scope ? `.${hash('sha256', scope.identity).slice(0, 16)}` : ''
}

function missing(upload: string): CairnError {
  return new CairnError('not_found', {
    what: `find upload '${upload}'`,
    reason: 'it was completed, deleted or has expired',
    subject: upload,
  })
}

/** An upload that is gone may have been completed under the same idempotency key: then the log has the answer. */
async function complete(
  target: Target,
  blocks: readonly UploadedBlock[] | string,
  body: unknown,
): Promise<{ readonly receipt: unknown; readonly isMade: boolean }> {
  const fields = new Fields(body, 'the body')
  const [path, size] = [fields.path('path'), fields.count('size') ?? 0]
  const [mode, ifMatch] = [fields.mode('mode'), fields.text('ifMatch')]
  const options = {
    size,
    parents: fields.flag('parents', true),
    ifAbsent: fields.flag('ifAbsent'),
    ...(mode === undefined ? {} : { mode }),
    ...(ifMatch === undefined ? {} : { ifMatch }),
  }
  fields.end()
  let isMade = false
  const { receipt } = await change(target, path, (edit) => {
    if (typeof blocks === 'string') throw missing(blocks)
    isMade = true
    return { isNew: writeFile(edit, path, { ...options, pieces: piecesOf(blocks, size) }) }
  })
  return { receipt, isMade }
}

/** Every byte of the file must have arrived: a missing block is no hole. */
function piecesOf(blocks: readonly UploadedBlock[], size: number): readonly Piece[] {
  const wanted = Math.ceil(size / blockBytes)
  for (let number = 0; number < wanted; number++) {
    const expected = Math.min(blockBytes, size - number * blockBytes)
    const block = blocks[number]
    if (block?.number === number && block.size === expected) continue
    throw new CairnError('invalid_argument', {
      what: 'complete the upload',
      reason: `block ${number} must arrive with ${expected} bytes`,
      subject: `block ${number}`,
    })
  }
  if (blocks.length > wanted)
    throw new CairnError('invalid_argument', {
      what: 'complete the upload',
      reason: `${blocks.length - wanted} blocks too many`,
    })
  return blocks.flatMap(({ number, blob }) =>
    blob
      ? [
          {
            offset: number * blockBytes,
            data: {
              type: 'blob',
              id: blob.id,
              blobLength: blob.length,
              start: 0,
              length: blob.length,
            },
          } as const,
        ]
      : [],
  )
}
