import {
  inSteps,
  type Link,
  requireAllowed,
  requireWritable,
  resolvePath,
  type View,
  superuser,
} from '@cairn/core'
import type { ChangeReceipt, Tags } from '@cairn/protocol'
import { type ByteString, CairnError, isFsError } from '@cairn/protocol'
import { fileRoutes as table, operationBodies } from '@cairn/protocol/routes'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { appendFile, patchFile, writeFile } from '../../files/changes.ts'
import { endDraft } from '../../files/end-draft.ts'
import { bodyBytesMax, receiveBody, type Received, requireLength } from '../../files/receive.ts'
import { statOf } from '../../files/stat.ts'
import { remove } from '../../files/trees.ts'
import type { Decide } from '../../workspaces/path-changes.ts'
import type { WorkspaceKeeper } from '../../workspaces/workspace-keeper.ts'
import { adderOf } from '../add-routes.ts'
import { importTar } from '../archive-requests.ts'
import { arriving } from '../arrival.ts'
import { bodyOf, openTarget, readTarget, type Target } from '../context.ts'
import { readJson } from '../json-body.ts'
import { type PathOperation, type OperationBodies, readOperation } from '../operations.ts'
import { parseContentRange } from '../range.ts'
import { pathOfRequest } from '../raw-path.ts'
import { type Validate, validatorOf } from '../validate.ts'
import { isOn } from '../flag.ts'

/** The verbs of `POST files/PATH?VERB`. */
const verbs = [
  'append',
  'mkdir',
  'move',
  'copy',
  'chmod',
  'tag',
  'symlink',
  'link',
  'touch',
] as const
type JsonVerb = Exclude<(typeof verbs)[number], 'append'>

/** Reads the body of each verb that takes JSON. */
const takers = Object.fromEntries(
  verbs.flatMap((verb) => (verb === 'append' ? [] : [[verb, takerOf(verb)]])),
) as Readonly<Record<JsonVerb, (body: unknown, path: ByteString) => PathOperation>>

function takerOf<Verb extends JsonVerb>(
  verb: Verb,
): (body: unknown, path: ByteString) => PathOperation {
  const validate = validatorOf(operationBodies[verb]) as Validate<OperationBodies[Verb]>
  return (body, path) => readOperation(verb, validate(body, 'the body'), path)
}

export function changeFileRoutes(app: FastifyInstance, workspaces: WorkspaceKeeper): void {
  putRoute(app, workspaces)
  patchRoute(app, workspaces)
  postRoute(app, workspaces)
  deleteRoute(app, workspaces)
}

function putRoute(app: FastifyInstance, workspaces: WorkspaceKeeper): void {
  adderOf(app, table)(
    'PUT /v1/workspaces/:workspace/files',
    { access: ['write'], changesDirectories: true },
    async (request, reply) => {
      const target = await openTarget(workspaces, request)
      const path = pathOfRequest(request.raw)
      await requireWritableAt(target, path)
      const { isNew, receipt } = await withBody(target, request, path, (received) =>
        change(target, path, (edit) => ({
          isNew: writeFile(edit, path, {
            ...received,
            ...conditionsOf(request),
            ...modeOf(request.query.mode),
            ...tagsOfQuery(request.query.tag),
            parents: request.query.parents !== 'false',
          }),
        })),
      )
      void reply.code(isNew === false ? 200 : 201)
      return receipt
    },
  )
}

function patchRoute(app: FastifyInstance, workspaces: WorkspaceKeeper): void {
  adderOf(app, table)(
    'PATCH /v1/workspaces/:workspace/files',
    { access: ['write'], changesDirectories: true },
    async (request) => {
      const target = await openTarget(workspaces, request)
      const path = pathOfRequest(request.raw)
      const range = parseContentRange(request.headers['content-range'])
      if (!range) throw invalid('patch the file', 'want a header Content-Range: bytes FIRST-LAST/*')
      await requireWritableAt(target, path)
      const { receipt } = await withBody(target, request, path, ({ pieces, size }) => {
        if (size !== range.length)
          throw invalid(
            'patch the file',
            `Content-Range names ${range.length} bytes, the body has ${size}`,
          )
        const placed = pieces.map((piece) => ({ ...piece, offset: piece.offset + range.start }))
        const { ifMatch } = conditionsOf(request)
        return change(target, path, (edit) => patchFile(edit, path, placed, ifMatch))
      })
      return receipt
    },
  )
}

function postRoute(app: FastifyInstance, workspaces: WorkspaceKeeper): void {
  adderOf(app, table)(
    'POST /v1/workspaces/:workspace/files',
    { access: ['write', 'delete'], changesDirectories: true },
    async (request) => {
      const target = await openTarget(workspaces, request)
      const path = pathOfRequest(request.raw)
      const [verb, ...more] = verbs.filter((name) => isOn(request.query[name]))
      if (isOn(request.query.import) && verb === undefined) {
        await requireWritableAt(target, path)
        const keepTimes = request.query.times !== 'now'
        const wantsInodes = isOn(request.query.inodes)
        return importTar(target, path, bodyOf(request), { keepTimes, wantsInodes })
      }
      if (verb === undefined || more.length > 0)
        throw invalid('change the file', `want exactly one of ?${[...verbs, 'import'].join(' ?')}`)
      if (verb === 'append') return append(target, path, request, request.query.parents !== 'false')
      const operation = takers[verb](await readJson(bodyOf(request)), path)
      return (await change(target, path, operation)).receipt
    },
  )
}

function deleteRoute(app: FastifyInstance, workspaces: WorkspaceKeeper): void {
  adderOf(app, table)(
    'DELETE /v1/workspaces/:workspace/files',
    // What it created itself a token may remove if it may write.
    { access: ['delete', 'write'], changesDirectories: true },
    async (request) => {
      const target = await openTarget(workspaces, request)
      const path = pathOfRequest(request.raw)
      const recursive = isOn(request.query.recursive)
      return (await change(target, path, (edit) => remove(edit, path, recursive))).receipt
    },
  )
}

/** Runs a change and tells what is at the path afterwards. */
export async function change<T extends object | void>(
  { workspace, branch, asker }: Target,
  path: ByteString,
  decide: Decide<T>,
): Promise<Partial<T> & { receipt: ChangeReceipt }> {
  const { receipt, result } = await workspace.paths.change(branch, asker, function* (edit) {
    const decided = yield* inSteps(decide(edit))
    const { dentry } = edit.resolve(path, false)
    const stat = dentry && statOf(edit.view, dentry.ino, edit.view.inode(dentry.ino)!)
    return { decided, stat }
  })
  const { decided, stat } = result ?? {}
  return { ...(decided as Partial<T>), receipt: { seq: receipt.seq, ...(stat ? { stat } : {}) } }
}

async function append(
  target: Target,
  path: ByteString,
  request: FastifyRequest,
  parents: boolean,
): Promise<ChangeReceipt> {
  await requireWritableAt(target, path)
  const { receipt } = await withBody(target, request, undefined, ({ pieces }) =>
    change(target, path, (edit) => appendFile(edit, path, { pieces, parents })),
  )
  return receipt
}

/** Before a body is taken in that would be refused. What decides is asked again when it is written. */
async function requireWritableAt(target: Target, path: ByteString): Promise<void> {
  const { scope } = target.asker
  if (!scope) return
  await readTarget(target, (view) => {
    const place = findPlace(view, path)
    if (place) requireWritable(view, scope.grant, place)
    else requireAllowed(scope.grant, 'write', path)
  })
}

/** Undefined where directories on the way are still to be made. */
function findPlace(view: View, path: ByteString): Link | undefined {
  try {
    const { parent, name } = resolvePath(view, path, { who: superuser, follow: true })
    return name === undefined ? undefined : { parent, name }
  } catch (error) {
    if (isFsError(error, 'ENOENT')) return undefined
    throw error
  }
}

/**
 * Takes the body in and hands it to `write`. With `replaced`, it takes the place of what is at that path. What a failed or
 * refused request stored is deleted at once.
 */
function withBody<T>(
  target: Target,
  request: FastifyRequest,
  replaced: ByteString | undefined,
  write: (received: Received) => Promise<T>,
): Promise<T> {
  const contentLength = request.headers['content-length']
  requireLength(contentLength, bodyBytesMax)
  const body = bodyOf(request)
  if (!body) return write({ pieces: [], size: 0 })
  const { stores, clock } = target.workspace
  const draft = stores.blobs.draft(() => clock.nowMs())
  const bytes = arriving(target, body, { contentLength, path: replaced })
  return endDraft(draft, () => receiveBody(bytes, draft.blobs), write)
}

function conditionsOf(request: FastifyRequest): { ifMatch?: string; ifAbsent?: boolean } {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = request.headers
  if (ifNoneMatch !== undefined && ifNoneMatch !== '*')
    throw invalid('write the file', 'If-None-Match takes only * here')
  return {
    ...(ifMatch === undefined ? {} : { ifMatch }),
    ...(ifNoneMatch ? { ifAbsent: true } : {}),
  }
}

function modeOf(mode: string | undefined): { mode?: number } {
  return mode === undefined ? {} : { mode: parseInt(mode, 8) }
}

function tagsOfQuery(pairs: string | readonly string[] | undefined): { tags?: Tags } {
  if (pairs === undefined) return {}
  // The first `=` ends the name.
  const entries = [pairs].flat().map((pair) => {
    const at = pair.indexOf('=')
    return [pair.slice(0, at), pair.slice(at + 1)]
  })
  return { tags: Object.fromEntries(entries) as Tags }
}

function invalid(what: string, reason: string): CairnError {
  return new CairnError('invalid_argument', { what, reason })
}
