import { ApiError, notFound } from '../api-error.ts'
import { readJson, sendJson, sendNothing } from '../http.ts'
import { newBuild } from '../templates/catalog.ts'
import { parseSpec } from '../templates/build-spec.ts'
import { type Build, defaultTag, parseReference, parseTag, type Template } from '../template.ts'
import { type Fields, optionalNumber, optionalText } from './fields.ts'
import type { ControlRequest, Handler, ControlRoutes } from './route.ts'
import { envdVersion } from './show.ts'

const logEntriesMax = 100

const requestBuild: Handler = async ({ control, request, response }) => {
  const body = await readJson(request)
  const { name, tags } = namesOf(body)
  const template = control.catalog.find(name) ?? (await control.catalog.add([name]))
  if (control.catalog.isBuiltIn(template))
    throw new ApiError(403, `${name} is part of the server; build under another name`)
  const build = newBuild(sizeOf(body))
  template.builds[build.id] = build
  control.builder.expect(build.id, tags)
  await control.catalog.save(template)
  sendJson(response, 202, { ...show(template, control.diskSizeMB), buildID: build.id, tags })
}

function namesOf(body: Fields): { name: string; tags: string[] } {
  const text = optionalText(body, 'name') ?? optionalText(body, 'alias') ?? ''
  const reference = parseReference(text)
  if (reference === undefined) throw new ApiError(400, `'${text}' is not a name for a template`)
  const given = tagsIn(body)
  if (reference.tag !== undefined) tagsIn({ tags: [reference.tag] })
  const tags = [...new Set([...(reference.tag === undefined ? [] : [reference.tag]), ...given])]
  return { name: reference.name, tags: tags.length === 0 ? [defaultTag] : tags }
}

function tagsIn(body: Fields): string[] {
  const given = body['tags'] ?? []
  if (!Array.isArray(given)) throw new ApiError(400, 'tags must be a list')
  return given.map((each) => {
    const tag = parseTag(String(each))
    if (tag !== undefined) return tag
    const rule = 'a tag has letters, digits, dots, dashes and underscores, and is not an id'
    throw new ApiError(400, `invalid tag '${String(each)}': ${rule}`)
  })
}

function sizeOf(body: Fields): { cpuCount?: number; memoryMB?: number } {
  const cpuCount = optionalNumber(body, 'cpuCount')
  const memoryMB = optionalNumber(body, 'memoryMB')
  if ((cpuCount ?? 1) < 1 || (memoryMB ?? 128) < 128)
    throw new ApiError(400, 'a template needs at least 1 CPU and 128 MB')
  return {
    ...(cpuCount === undefined ? {} : { cpuCount }),
    ...(memoryMB === undefined ? {} : { memoryMB }),
  }
}

/** Where the files of a COPY go, unless they are here already. */
const findFiles: Handler = async ({ control, params, response }) => {
  const hash = params['hash'] ?? ''
  if (await control.builder.files.has(hash)) sendJson(response, 201, { present: true })
  else {
    const url = `${control.url}${control.builder.files.uploadPath(hash)}`
    sendJson(response, 201, { present: false, url })
  }
}

const startBuild: Handler = async (call) => {
  const { template, build } = buildOf(call)
  const spec = parseSpec(await readJson(call.request))
  call.control.builder.start(template, build, spec)
  sendNothing(call.response, 202)
}

const status: Handler = (call) => {
  const { template, build } = buildOf(call)
  const offset = Number(call.url.searchParams.get('logsOffset') ?? 0)
  const entries = call.control.builder.logsOf(build.id).slice(offset, offset + logEntriesMax)
  sendJson(call.response, 200, {
    templateID: template.id,
    buildID: build.id,
    status: build.status,
    logs: entries.map(({ message }) => message),
    logEntries: entries,
    ...(build.reason === undefined ? {} : { reason: build.reason }),
  })
}

const findAlias: Handler = ({ control, params, response }) => {
  const template = control.catalog.find(params['name'] ?? '')
  if (template === undefined) throw notFound(`template '${params['name']}'`)
  sendJson(response, 200, { templateID: template.id, public: false })
}

const list: Handler = ({ control, response }) => {
  const templates = control.catalog.all().filter(({ snapshotOf }) => snapshotOf === undefined)
  sendJson(
    response,
    200,
    templates.map((each) => show(each, control.diskSizeMB)),
  )
}

const tag: Handler = async ({ control, request, response }) => {
  const body = await readJson(request)
  const { template, build } = control.catalog.getReady(optionalText(body, 'target') ?? '')
  const tags = tagsIn(body)
  if (tags.length === 0) throw new ApiError(400, 'want one tag or more')
  for (const each of tags) template.tags[each] = build.id
  await control.catalog.save(template)
  sendJson(response, 201, { buildID: build.id, tags })
}

const untag: Handler = async ({ control, request, response }) => {
  const body = await readJson(request)
  const template = control.catalog.get(optionalText(body, 'name') ?? '')
  for (const each of tagsIn(body)) delete template.tags[each]
  await control.catalog.save(template)
  sendNothing(response)
}

const tagsOf: Handler = ({ control, params, response }) => {
  const { tags, builds } = control.catalog.get(params['id'] ?? '')
  const rows = Object.entries(tags).map(([each, buildID]) => ({
    tag: each,
    buildID,
    createdAt: builds[buildID]?.createdAt,
  }))
  sendJson(response, 200, rows)
}

/** Whether other users see it; here there are none. */
const update: Handler = ({ control, params, response }) => {
  sendJson(response, 200, { names: control.catalog.get(params['id'] ?? '').names })
}

const teams: Handler = ({ response }) =>
  sendJson(response, 200, [{ teamID: 'local', name: 'local', apiKey: '', isDefault: true }])

function buildOf({ control, params }: ControlRequest): { template: Template; build: Build } {
  const template = control.catalog.get(params['id'] ?? '')
  const build = template.builds[params['build'] ?? '']
  if (build === undefined) throw notFound(`build '${params['build']}'`)
  return { template, build }
}

function show({ id, names, tags, builds, createdAt }: Template, diskSizeMB: number): object {
  const build = builds[tags[defaultTag] ?? ''] ?? Object.values(builds).at(-1)
  return {
    templateID: id,
    buildID: build?.id ?? '',
    public: false,
    names,
    aliases: names,
    tags: Object.keys(tags),
    cpuCount: build?.cpuCount,
    memoryMB: build?.memoryMB,
    diskSizeMB,
    envdVersion,
    buildStatus: build?.status,
    buildCount: Object.keys(builds).length,
    createdAt,
    updatedAt: build?.createdAt ?? createdAt,
  }
}

export const templateRoutes: ControlRoutes = {
  'POST /v3/templates': requestBuild,
  'POST /v2/templates': requestBuild,
  'GET /templates': list,
  'GET /templates/{id}/files/{hash}': findFiles,
  'POST /v2/templates/{id}/builds/{build}': startBuild,
  'GET /templates/{id}/builds/{build}/status': status,
  'GET /templates/aliases/{name}': findAlias,
  'POST /templates/tags': tag,
  'DELETE /templates/tags': untag,
  'GET /templates/{id}/tags': tagsOf,
  'PATCH /v2/templates/{id}': update,
  'PATCH /templates/{id}': update,
  'GET /teams': teams,
}
