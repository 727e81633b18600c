import { readJson, sendJson, sendNothing } from '../http.ts'
import { optionalText } from './fields.ts'
import type { Handler, ControlRoutes } from './route.ts'

const create: Handler = async ({ control, request, response }) => {
  const name = optionalText(await readJson(request), 'name') ?? ''
  sendJson(response, 201, await control.volumes.create(name))
}

const list: Handler = ({ control, response }) => {
  const volumes = control.volumes.list().map(({ volumeID, name }) => ({ volumeID, name }))
  sendJson(response, 200, volumes)
}

const get: Handler = ({ control, params, response }) =>
  sendJson(response, 200, control.volumes.get(params['id'] ?? ''))

const destroy: Handler = async ({ control, params, response }) => {
  await control.volumes.destroy(params['id'] ?? '')
  sendNothing(response)
}

export const volumeRoutes: ControlRoutes = {
  'POST /volumes': create,
  'GET /volumes': list,
  'GET /volumes/{id}': get,
  'DELETE /volumes/{id}': destroy,
}
