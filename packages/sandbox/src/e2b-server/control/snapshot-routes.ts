import { ApiError, notFound } from '../api-error.ts'
import { readJson, sendJson } from '../http.ts'
import { newBuild } from '../templates/catalog.ts'
import { defaultTag, parseReference, type Template } from '../template.ts'
import { optionalText } from './fields.ts'
import { pageOf } from './pages.ts'
import type { Handler, ControlRoutes } from './route.ts'

const createSnapshot: Handler = async ({ control, params, request, response }) => {
  const { sandboxes, catalog, disks } = control
  const sandbox = sandboxes.get(params['id'] ?? '')
  const name = nameOf(optionalText(await readJson(request), 'name'))
  const { settings, startCommand, readyCommand, cpuCount, memoryMB, id } = sandbox.record
  const disk = await sandbox.snapshot({ durable: true })
  const template =
    (name === undefined ? undefined : catalog.find(name)) ??
    (await catalog.add(name === undefined ? [] : [name], id))
  const build = {
    ...newBuild({ cpuCount, memoryMB }),
    status: 'ready' as const,
    disk,
    settings,
    ...(startCommand === undefined ? {} : { startCommand }),
    ...(readyCommand === undefined ? {} : { readyCommand }),
  }
  template.builds[build.id] = build
  template.tags[defaultTag] = build.id
  const over = catalog.forgetUntagged(template)
  await catalog.save(template)
  // DURABLE: disk and record are on this machine's disk; the snapshot outlives its sandbox and the server.
  sendJson(response, 201, show(template))
  for (const old of over) await disks.remove(old)
}

function nameOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const reference = parseReference(text)
  if (reference === undefined) throw new ApiError(400, `'${text}' is not a name for a snapshot`)
  return reference.name
}

const listSnapshots: Handler = ({ control, url, response }) => {
  const { searchParams } = url
  const sandboxId = searchParams.get('sandboxID')
  const name = searchParams.get('name')
  const wanted = control.catalog
    .all()
    .filter(({ snapshotOf }) => snapshotOf !== undefined)
    .filter(({ snapshotOf }) => sandboxId === null || snapshotOf === sandboxId)
    .filter(({ names }) => name === null || names.includes(parseReference(name)?.name ?? name))
  const keyOf = ({ createdAt, id }: Template): string => `${createdAt}:${id}`
  const sorted = wanted.toSorted((a, b) => (keyOf(a) < keyOf(b) ? 1 : -1))
  const page = pageOf(sorted, keyOf, searchParams)
  sendJson(response, 200, page.rows.map(show), page.headers)
}

function show({ id, names }: Template): object {
  const spelled = names.map((name) => `${name}:${defaultTag}`)
  return { snapshotID: spelled[0] ?? `${id}:${defaultTag}`, names: spelled }
}

/** Templates and snapshots alike. */
const removeTemplate: Handler = async ({ control, params, response }) => {
  const template = control.catalog.find(params['id'] ?? '')
  if (template === undefined) throw notFound(`template '${params['id']}'`)
  for (const disk of await control.catalog.remove(template)) await control.disks.remove(disk)
  response.writeHead(204).end()
}

export const snapshotRoutes: ControlRoutes = {
  'POST /sandboxes/{id}/snapshots': createSnapshot,
  'GET /snapshots': listSnapshots,
  'DELETE /templates/{id}': removeTemplate,
}
