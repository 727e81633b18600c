import { once } from 'node:events'
import { ApiError } from '../api-error.ts'
import { readJson, sendJson, sendNothing } from '../http.ts'
import { parseNetwork } from '../sandboxes/egress.ts'
import type { HostedSandbox } from '../sandboxes/hosted-sandbox.ts'
import type { Lifecycle, VolumeMount } from '../sandboxes/record.ts'
import { type Fields, flag, lifetime, optionalNumber, optionalText, texts } from './fields.ts'
import { listSandboxes } from './list-sandboxes.ts'
import type { Control, ControlRequest, Handler, ControlRoutes } from './route.ts'
import type { Build } from '../template.ts'
import { showDetail, showListed, showSandbox } from './show.ts'

const forkCountMax = 100

const create =
  (defaultSeconds: number): Handler =>
  async ({ control, request, response }) => {
    const body = await readJson(request)
    const sandbox = await createFrom(body, defaultSeconds, control)
    sendJson(response, 201, showSandbox(sandbox, control.domain))
  }

async function createFrom(
  body: Fields,
  defaultSeconds: number,
  control: Control,
): Promise<HostedSandbox> {
  const name = optionalText(body, 'templateID') ?? 'base'
  // The SDK starts the gateway itself. It comes with the template.
  const wantsMcp = body['mcp'] !== undefined && body['mcp'] !== null
  if (wantsMcp && control.catalog.find(name) === undefined)
    throw new ApiError(
      400,
      `mcp needs the template '${name}', and this server has no gateway of its own. Build a template of that name with the program mcp-gateway in it.`,
    )
  const { template, build } = control.catalog.getReady(name)
  if (body['iam'] !== undefined && body['iam'] !== null)
    throw new ApiError(400, 'workload identity (iam) is not supported by this server')
  const allowInternetAccess = body['allow_internet_access']
  return control.sandboxes.create({
    template,
    build: { ...build, ...(await systemOf(build, control)) },
    alias: template.names[0],
    lifetimeMs: lifetime(body, defaultSeconds),
    metadata: texts(body, 'metadata'),
    envVars: texts(body, 'envVars'),
    lifecycle: parseLifecycle(body),
    network: parseNetwork(body['network']),
    allowInternetAccess: typeof allowInternetAccess === 'boolean' ? allowInternetAccess : undefined,
    volumeMounts: await parseMounts(body['volumeMounts'], control),
  })
}

/** How long a request waits for a system that is being made: less than the SDK waits for the answer. */
const systemWithinMs = 45_000

/** The disk that a sandbox starts from. A built-in template's system is made when it is first wanted. */
async function systemOf({ image }: Build, { bases }: Control): Promise<{ readonly disk?: string }> {
  if (image === undefined) return {}
  let last = ''
  const deadline = AbortSignal.timeout(systemWithinMs)
  const late = once(deadline, 'abort').then(() => {
    throw new ApiError(
      503,
      `${image} is being made from Debian's packages, which happens once and takes minutes (${last}). Try again soon.`,
    )
  })
  return { disk: await Promise.race([bases.open(image, (line) => (last = line)), late]) }
}

function parseLifecycle(body: Fields): Lifecycle {
  const onTimeout = flag(body, 'autoPause', false) ? 'pause' : 'kill'
  const keepMemory = flag(body, 'autoPauseMemory', true)
  const autoResume = flag((body['autoResume'] ?? {}) as Fields, 'enabled', false)
  if (autoResume && onTimeout === 'kill')
    throw new ApiError(400, 'autoResume needs a sandbox that pauses at its timeout')
  if (autoResume && !keepMemory)
    throw new ApiError(400, 'autoResume needs a pause that keeps the memory')
  return { onTimeout, keepMemory, autoResume }
}

async function parseMounts(value: unknown, { volumes }: Control): Promise<VolumeMount[]> {
  const mounts = (value ?? []) as VolumeMount[]
  const seen = new Set<string>()
  for (const { name, path } of mounts) {
    const isClean = /^(?:\/[^/]+)+$/.test(path) && !/\/\.\.?(?:\/|$)/.test(path)
    if (!isClean || seen.has(path))
      throw new ApiError(400, `cannot mount at '${path}': want an absolute path, each once`)
    seen.add(path)
    if (!(await volumes.has(name))) throw new ApiError(400, `there is no volume '${name}'`)
  }
  return mounts.map(({ name, path }) => ({ name, path }))
}

const connect =
  (defaultSeconds: number): Handler =>
  async (call) => {
    const body = await readJson(call.request)
    const sandbox = sandboxOf(call)
    const wasPaused = await sandbox.resume(
      lifetime(body, defaultSeconds),
      flag(body, 'memory', true),
    )
    sendJson(call.response, wasPaused ? 201 : 200, showSandbox(sandbox, call.control.domain))
  }

/** Before `connect`, clients asked for this; it refuses what runs. */
const resume: Handler = async (call) => {
  const sandbox = sandboxOf(call)
  if (sandbox.record.state === 'running')
    throw new ApiError(409, `the sandbox ${sandbox.record.id} is running already`)
  await sandbox.resume(lifetime(await readJson(call.request), 15), true)
  sendJson(call.response, 201, showSandbox(sandbox, call.control.domain))
}

const list: Handler = ({ control, url, response }) => {
  const page = listSandboxes(control.sandboxes.all(), url.searchParams, control.catalog)
  sendJson(response, 200, page.rows.map(showListed), page.headers)
}

const info: Handler = (call) =>
  sendJson(call.response, 200, showDetail(sandboxOf(call), call.control.domain))

const kill: Handler = async (call) => {
  await sandboxOf(call).kill()
  sendNothing(call.response)
}

const setLifetime: Handler = async (call) => {
  const body = await readJson(call.request)
  if (optionalNumber(body, 'timeout') === undefined) throw new ApiError(400, 'timeout is missing')
  await sandboxOf(call).setLifetime(lifetime(body, 0, { mayEnd: true }))
  sendNothing(call.response)
}

/** Adds to a life, and never takes from it. */
const refresh: Handler = async (call) => {
  const sandbox = sandboxOf(call)
  const wantedMs = lifetime(await readJson(call.request), 15, { name: 'duration' })
  await sandbox.setLifetime(Math.max(wantedMs, sandbox.record.endAt - Date.now()))
  sendNothing(call.response)
}

const pause: Handler = async (call) => {
  const body = await readJson(call.request)
  await sandboxOf(call).pause(flag(body, 'memory', true))
  sendNothing(call.response)
}

const metrics: Handler = async (call) => {
  const { searchParams } = call.url
  const start = Number(searchParams.get('start') ?? 0)
  const end = Number(searchParams.get('end') ?? Number.MAX_SAFE_INTEGER)
  sendJson(call.response, 200, await sandboxOf(call).metrics.read(start, end))
}

const network: Handler = async (call) => {
  const body = await readJson(call.request)
  const allows = body['allow_internet_access']
  const isGiven = typeof allows === 'boolean'
  await sandboxOf(call).setNetwork(parseNetwork(body), isGiven ? allows : undefined)
  sendNothing(call.response)
}

const fork: Handler = async (call) => {
  const { control, request, response } = call
  const body = await readJson(request)
  const count = optionalNumber(body, 'count') ?? 1
  if (!Number.isInteger(count) || count < 1 || count > forkCountMax)
    throw new ApiError(400, `count must be from 1 to ${forkCountMax}`)
  const lifetimeMs = lifetime(body, 15)
  const { record } = sandboxOf(call)
  const disk = await sandboxOf(call).snapshot({ durable: false })
  const makes = Array.from({ length: count }, () =>
    control.sandboxes.createLike(record, disk, lifetimeMs),
  )
  const made = await Promise.allSettled(makes)
  // Those that run hold it; with the last of them it goes.
  await control.disks.remove(disk)
  const answers = made.map((each) =>
    each.status === 'fulfilled'
      ? { sandbox: showSandbox(each.value, control.domain) }
      : { error: { code: 500, message: String(each.reason) } },
  )
  sendJson(response, 201, answers)
}

function sandboxOf({ control, params }: ControlRequest): HostedSandbox {
  return control.sandboxes.get(params['id'] ?? '')
}

export const sandboxRoutes: ControlRoutes = {
  'POST /v2/sandboxes': create(300),
  'POST /sandboxes': create(15),
  'POST /v2/sandboxes/{id}/connect': connect(300),
  'POST /sandboxes/{id}/connect': connect(300),
  'POST /sandboxes/{id}/resume': resume,
  'GET /v2/sandboxes': list,
  'GET /sandboxes': list,
  'GET /sandboxes/{id}': info,
  'DELETE /sandboxes/{id}': kill,
  'POST /sandboxes/{id}/timeout': setLifetime,
  'POST /sandboxes/{id}/refreshes': refresh,
  'POST /sandboxes/{id}/pause': pause,
  'GET /sandboxes/{id}/metrics': metrics,
  'PUT /sandboxes/{id}/network': network,
  'POST /sandboxes/{id}/fork': fork,
}
