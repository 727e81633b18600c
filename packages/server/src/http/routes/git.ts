import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { ByteQueue, CairnError } from '@cairn/protocol'
import { media, type Route, workspaceParams } from '@cairn/protocol/routes'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'
import { exportWorkspace } from '../../git/export-workspace.ts'
import { ExportedRepository, exportPath } from '../../git/exported-repository.ts'
import { flush, pktLine } from '../../git/pkt-lines.ts'
import { pushCapabilities, receivePush } from '../../git/receive-push.ts'
import { startGit, whenDone } from '../../git/run-git.ts'
import type { OpenWorkspace } from '../../workspaces/open-workspace.ts'
import type { WorkspaceKeeper } from '../../workspaces/workspace-keeper.ts'
import { type PlaceLimits, Places } from '../../access/places.ts'
import { schemaOf } from '../add-routes.ts'
import { answerGitError } from '../git-errors.ts'
import { askerOf, bodyOf, openWorkspace } from '../context.ts'
import { takePlace } from '../take-place.ts'
import { objectSchema } from '../schema.ts'

/** Each has a git or two, which take memory. */
const gitPlaces: PlaceLimits = { all: 24, owner: 12, token: 4, address: 12 }

const service = 'git-upload-pack'
const pushService = 'git-receive-pack'
const pushAdvertisement = `application/x-${pushService}-advertisement`

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

const pushed: Route = {
  summary: 'A push, from git: each ref becomes a layer, or goes into one',
  params: workspaceParams,
  body: media('application/x-git-receive-pack-request'),
  answers: { 200: media('application/x-git-receive-pack-result') },
}

/** A workspace as a git remote: git's smart HTTP protocol. */
export function gitRoutes(
  app: FastifyInstance,
  workspaces: WorkspaceKeeper,
  directory: string,
): void {
  const exports = new Exports(directory)
  const places = new Places(gitPlaces, 'requests of git under way')
  const takeOne = (request: FastifyRequest, reply: FastifyReply): void =>
    void reply.raw.once('close', takePlace(places, request, reply, 'use the git remote'))
  app.get<{ Querystring: { service?: string } }>(
    '/git/:workspace/info/refs',
    routeOf(refs),
    async (request, reply) => {
      takeOne(request, reply)
      const { service: wanted } = request.query
      const workspace = await openWorkspace(workspaces, request)
      const repository = await exports.update(workspace)
      if (wanted === pushService)
        return reply.type(pushAdvertisement).send(await refsForPush(repository))
      requireService(wanted)
      const head = `# service=${service}\n`
      const line = `${(head.length + 4).toString(16).padStart(4, '0')}${head}0000`
      return answer(request, reply, 'advertisement', repository, ['--advertise-refs'], line)
    },
  )
  app.post(`/git/:workspace/${service}`, routeOf(objects), async (request, reply) => {
    takeOne(request, reply)
    const repository = exports.of(await openWorkspace(workspaces, request))
    return answer(request, reply, 'result', repository, [], '')
  })
  app.post(`/git/:workspace/${pushService}`, routeOf(pushed), async (request, reply) => {
    takeOne(request, reply)
    const workspace = await openWorkspace(workspaces, request)
    const repository = exports.of(workspace)
    const alone = async (work: () => Promise<void>): Promise<void> =>
      void (await exports.update(workspace, work))
    const push = { workspace, asker: askerOf(request), repository, alone }
    void reply.type('application/x-git-receive-pack-result').header('cache-control', 'no-cache')
    return reply.send(await receivePush(push, new ByteQueue(plainBody(request))))
  })
}

function routeOf(route: Route): RouteShorthandOptions {
  const config = { access: 'owner', route } as const
  return { config, schema: schemaOf(route), errorHandler: answerGitError }
}

/** Without `--advertise-refs` of git: it would offer what a workspace cannot do. */
async function refsForPush(repository: ExportedRepository): Promise<Buffer> {
  const refs = [...(await repository.refs())].map(([name, { commit }]) => `${commit} ${name}`)
  const [first = `${'0'.repeat(40)} capabilities^{}`, ...rest] = refs
  const lines = [`${first}\0${pushCapabilities}\n`, ...rest.map((line) => `${line}\n`)]
  return Buffer.concat([pktLine(`# service=${pushService}\n`), flush, ...lines.map(pktLine), flush])
}

/** As git sends it, unpacked. */
function plainBody(request: FastifyRequest): Readable {
  const body = Readable.from(bodyOf(request) ?? [])
  if (request.headers['content-encoding'] !== 'gzip') return body
  const plain = createGunzip()
  body.on('error', (error) => plain.destroy(error))
  return body.pipe(plain)
}

function requireService(name: string | undefined): void {
  if (name === service) return
  throw new CairnError('forbidden', {
    what: 'use the git remote',
    reason: `it has no service '${name ?? ''}'`,
    hint: 'Use git clone, git fetch and git push.',
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

  of({ info, stores }: OpenWorkspace): ExportedRepository {
    const known = this.#repositories.get(info.id)
    if (known) return known
    const repository = new ExportedRepository(exportPath(this.#directory, info.id), stores)
    this.#repositories.set(info.id, repository)
    return repository
  }

  /** `work` sees the repository as it is then, and no other export changes it meanwhile. */
  async update(workspace: OpenWorkspace, work?: () => Promise<void>): Promise<ExportedRepository> {
    const { id } = workspace.info
    const repository = this.of(workspace)
    const before = this.#running.get(id) ?? Promise.resolve()
    const running = before
      .catch(() => {})
      .then(() => exportWorkspace(workspace, repository))
      .then(work)
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
  const input = plainBody(request)
  input.on('error', () => git.kill())
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
