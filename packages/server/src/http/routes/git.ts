import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { CairnError } from '@cairn/protocol'
import { media, type Route, workspaceParams } from '@cairn/protocol/routes'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { exportWorkspace } from '../../git/export-workspace.ts'
import { ExportedRepository, exportPath } from '../../git/exported-repository.ts'
import { startGit, whenDone } from '../../git/run-git.ts'
import type { Workspace } from '../../workspaces/workspace.ts'
import type { Workspaces } from '../../workspaces/workspaces.ts'
import { schemaOf } from '../add-routes.ts'
import { bodyOf, openWorkspace } from '../context.ts'
import { objectSchema } from '../schema.ts'

const service = 'git-upload-pack'

const refs: Route = {
  summary: 'The refs of a workspace, for git',
  params: workspaceParams,
  query: objectSchema({ service: { type: 'string', maxLength: 64 } }),
  answers: { 200: media(`application/x-${service}-advertisement`) },
}
const objects: Route = {
  summary: 'Objects of a workspace, for git',
  params: workspaceParams,
  body: media(`application/x-${service}-request`),
  answers: { 200: media(`application/x-${service}-result`) },
}

/** A workspace as a git remote that can be cloned and fetched from: git's smart HTTP protocol. */
export function gitRoutes(app: FastifyInstance, workspaces: Workspaces, directory: string): void {
  const exports = new Exports(directory)
  app.get<{ Querystring: { service?: string } }>(
    '/git/:workspace/info/refs',
    { config: { access: 'owner', route: refs }, schema: schemaOf(refs) },
    async (request, reply) => {
      requireService(request.query.service)
      const repository = await exports.update(await openWorkspace(workspaces, request))
      const head = `# service=${service}\n`
      const line = `${(head.length + 4).toString(16).padStart(4, '0')}${head}0000`
      return answer(request, reply, 'advertisement', repository, ['--advertise-refs'], line)
    },
  )
  app.post(
    `/git/:workspace/${service}`,
    { config: { access: 'owner', route: objects }, schema: schemaOf(objects) },
    async (request, reply) => {
      const repository = exports.of(await openWorkspace(workspaces, request))
      return answer(request, reply, 'result', repository, [], '')
    },
  )
}

function requireService(name: string | undefined): void {
  if (name === service) return
  throw new CairnError('forbidden', {
    what: 'push to a workspace',
    reason: 'this git remote can be read only',
    hint: 'Clone a repository into a layer with cairn git clone --layer, or change files in a mount.',
  })
}

/** The repositories of all workspaces. An export of one waits for the one before. */
class Exports {
  readonly #directory: string
  readonly #repositories = new Map<string, ExportedRepository>()
  readonly #running = new Map<string, Promise<void>>()

  constructor(directory: string) {
    this.#directory = directory
  }

  of({ info, stores }: Workspace): ExportedRepository {
    const known = this.#repositories.get(info.id)
    if (known) return known
    const repository = new ExportedRepository(exportPath(this.#directory, info.id), stores)
    this.#repositories.set(info.id, repository)
    return repository
  }

  async update(workspace: Workspace): Promise<ExportedRepository> {
    const { id } = workspace.info
    const repository = this.of(workspace)
    const before = this.#running.get(id) ?? Promise.resolve()
    const running = before.catch(() => {}).then(() => exportWorkspace(workspace, repository))
    this.#running.set(id, running)
    await running
    return repository
  }
}

async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  part: 'advertisement' | 'result',
  { path }: ExportedRepository,
  options: readonly string[],
  before: string,
): Promise<unknown> {
  const protocol = request.headers['git-protocol']
  const isKnown = typeof protocol === 'string' && /^version=\d$/.test(protocol)
  const git = startGit(
    ['upload-pack', '--stateless-rpc', '--strict', ...options, path],
    isKnown ? { GIT_PROTOCOL: protocol } : {},
  )
  const ended = whenDone(git, 'answer git')
  ended.catch(() => {})
  const body = Readable.from(bodyOf(request) ?? [])
  const isZipped = request.headers['content-encoding'] === 'gzip'
  const input = isZipped ? body.pipe(createGunzip()) : body
  for (const stream of [body, input]) stream.on('error', () => git.kill())
  input.pipe(git.stdin)
  request.gone.addEventListener('abort', () => git.kill(), { once: true })
  void reply.type(`application/x-${service}-${part}`).header('cache-control', 'no-cache')
  return reply.send(
    Readable.from(
      (async function* () {
        if (before !== '') yield Buffer.from(before)
        yield* git.stdout
        await ended
      })(),
    ),
  )
}
