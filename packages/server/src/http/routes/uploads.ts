import { hash, randomUUID } from 'node:crypto'
import { blockBytes } from '@cairn/core'
import { CairnError, type ChangeReceipt, type Upload } from '@cairn/protocol'
import { uploadRoutes as table } from '@cairn/protocol/routes'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { writeFile } from '../../files/changes.ts'
import { type Piece, receiveBlock, requireLength, storeBlock } from '../../files/receive.ts'
import type { UploadedBlock, UploadStore } from '../../ports/upload-store.ts'
import type { WorkspaceKeeper } from '../../workspaces/workspace-keeper.ts'
import { adderOf, type RequestOf } from '../add-routes.ts'
import { arriving } from '../arrival.ts'
import { bodyOf, openTarget, type Target } from '../context.ts'
import { pathOfQuery } from '../path-query.ts'
import { spelledPath } from '../raw-path.ts'
import { change } from './change-files.ts'

const keptMs = 24 * 60 * 60 * 1000
const config = { access: ['write'] } as const

type CompleteBody = RequestOf<
  (typeof table)['POST /v1/workspaces/:workspace/uploads/:upload/complete']
>['body']

export function uploadRoutes(
  app: FastifyInstance,
  workspaces: WorkspaceKeeper,
  uploads: UploadStore,
): void {
  const add = adderOf(app, table)

  add('POST /v1/workspaces/:workspace/uploads', config, async (request, reply): Promise<Upload> => {
    const { workspace, asker } = await openTarget(workspaces, request)
    const [id, now] = [`up_${randomUUID()}${markOf(asker)}`, workspace.clock.nowMs()]
    await uploads.removeOlder(workspace.info.id, now - keptMs)
    await uploads.create(workspace.info.id, id, now)
    void reply.code(201)
    return { id, blockBytes, blocks: [] }
  })

  blockRoute(app, workspaces, uploads)

  add('GET /v1/workspaces/:workspace/uploads/:upload', config, async (request): Promise<Upload> => {
    await openUpload(workspaces, uploads, request)
    const { upload: id } = request.params
    return { id, blockBytes, blocks: (await uploads.blocks(id)).map(({ number }) => number) }
  })

  add('POST /v1/workspaces/:workspace/uploads/:upload/complete', config, async (request) => {
    const target = await openTarget(workspaces, request)
    const { upload } = request.params
    const isThere = await isOwn(uploads, target, upload)
    const blocks = await uploads.blocks(upload)
    const receipt = await complete(target, isThere ? blocks : upload, request.body)
    await uploads.remove(upload)
    return receipt
  })

  add('DELETE /v1/workspaces/:workspace/uploads/:upload', config, async (request, reply) => {
    await openUpload(workspaces, uploads, request)
    await uploads.remove(request.params.upload)
    void reply.code(204)
  })
}

function blockRoute(app: FastifyInstance, workspaces: WorkspaceKeeper, uploads: UploadStore): void {
  adderOf(app, table)(
    'PUT /v1/workspaces/:workspace/uploads/:upload/blocks/:number',
    config,
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
  workspaces: WorkspaceKeeper,
  uploads: UploadStore,
  request: FastifyRequest,
): Promise<Target> {
  const target = await openTarget(workspaces, request)
  const { upload } = request.params as { upload: string }
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
  body: CompleteBody,
): Promise<ChangeReceipt> {
  const { size = 0, mode, tags, ifMatch, parents = true, ifAbsent = false } = body
  const path = spelledPath(body, 'path')
  const options = {
    size,
    parents,
    ifAbsent,
    ...(mode === undefined ? {} : { mode: parseInt(mode, 8) }),
    ...(ifMatch === undefined ? {} : { ifMatch }),
    ...(tags ? { tags } : {}),
  }
  const { receipt } = await change(target, path, (edit) => {
    if (typeof blocks === 'string') throw missing(blocks)
    return { isNew: writeFile(edit, path, { ...options, pieces: piecesOf(blocks, size) }) }
  })
  return receipt
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
