import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { allowsSomewhere, ByteQueue, CairnError } from '@cairn/protocol'
import { media, type Route, workspaceParams } from '@cairn/protocol/routes'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'
import type { ExportedRepository } from '../../git/exported-repository.ts'
import { Exports } from '../../git/exports.ts'
import { flush, pktLine } from '../../git/pkt-lines.ts'
import { pushCapabilities, receivePush } from '../../git/receive-push.ts'
import { startGit, whenDone } from '../../git/run-git.ts'
import type { Viewer } from '../../git/viewer.ts'
import type { WorkspaceKeeper } from '../../workspaces/workspace-keeper.ts'
import { type PlaceLimits, Places } from '../../access/places.ts'
import { schemaOf } from '../add-routes.ts'
import { answerGitError } from '../git-errors.ts'
import { askerOf, bodyOf, openWorkspace, scopeOf } from '../context.ts'
import type { RouteAccess } from '../authenticate.ts'
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
    routeOf(refs, ['read']),
    async (request, reply) => {
      takeOne(request, reply)
      const { service: wanted } = request.query
      const scope = scopeOf(request)
      if (wanted !== pushService) requireService(wanted)
      else if (scope && !allowsSomewhere(scope.grant, 'write')) throw writersPush()
      const workspace = await openWorkspace(workspaces, request)
      const repository = await exports.update(workspace, scope)
      if (wanted === pushService)
        return reply.type(pushAdvertisement).send(await refsForPush(repository))
      const head = `# service=${service}\n`
      const line = `${(head.length + 4).toString(16).padStart(4, '0')}${head}0000`
      return answer(request, reply, 'advertisement', repository, ['--advertise-refs'], line)
    },
  )
  app.post(`/git/:workspace/${service}`, routeOf(objects, ['read']), async (request, reply) => {
    takeOne(request, reply)
    const workspace = await openWorkspace(workspaces, request)
    const repository = await exports.find(workspace, scopeOf(request))
    return answer(request, reply, 'result', repository, [], '')
  })
  app.post(`/git/:workspace/${pushService}`, routeOf(pushed, ['write']), async (request, reply) => {
    takeOne(request, reply)
    const workspace = await openWorkspace(workspaces, request)
    const scope = scopeOf(request)
    const repository = exports.of(workspace, scope)
    const alone = async (work: (viewer: Viewer) => Promise<void>): Promise<void> =>
      void (await exports.update(workspace, scope, work))
    const push = { workspace, asker: askerOf(request), repository, alone }
    void reply.type('application/x-git-receive-pack-result').header('cache-control', 'no-cache')
    return reply.send(await receivePush(push, new ByteQueue(plainBody(request))))
  })
}

function routeOf(route: Route, access: RouteAccess): RouteShorthandOptions {
  const config = { access, route }
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

/** Git shows this, and not what it is told later. */
function writersPush(): CairnError {
  return new CairnError('forbidden', {
    what: 'push with this token',
    reason: 'the token allows write nowhere',
    hint: 'Ask the owner for a token that allows it.',
  })
}

function requireService(name: string | undefined): void {
  if (name === service) return
  throw new CairnError('forbidden', {
    what: 'use the git remote',
    reason: `it has no service '${name ?? ''}'`,
    hint: 'Use git clone, git fetch and git push.',
  })
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
