import type { IncomingMessage, ServerResponse } from 'node:http'
import { ApiError } from '../api-error.ts'
import { isEqual } from '../envd/signature.ts'
import { sendNothing } from '../http.ts'
import { logRoutes } from './log-routes.ts'
import { type Control, matchRoute, type ControlRoutes } from './route.ts'
import { sandboxRoutes } from './sandbox-routes.ts'
import { snapshotRoutes } from './snapshot-routes.ts'
import { templateRoutes } from './template-routes.ts'
import { volumeRoutes } from './volume-routes.ts'

const routes: ControlRoutes = {
  ...sandboxRoutes,
  ...logRoutes,
  ...snapshotRoutes,
  ...templateRoutes,
  ...volumeRoutes,
}

/** What is asked of the server, with its key. */
export class ControlPlane {
  readonly #control: Control
  readonly #apiKey: string

  constructor(control: Control, apiKey: string) {
    this.#control = control
    this.#apiKey = apiKey
  }

  async serve(url: URL, request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'PUT' && url.pathname.startsWith('/template-files/'))
      return this.#takeFiles(url, request, response)
    const { 'x-api-key': key, authorization } = request.headers
    const given = String(key ?? authorization?.replace(/^Bearer\s+/i, '') ?? '')
    if (!isEqual(given, this.#apiKey)) throw new ApiError(401, 'the API key is missing or wrong')
    const match = matchRoute(routes, request.method ?? '', url.pathname)
    if (match === undefined)
      throw new ApiError(404, `this server does not know ${request.method} ${url.pathname}`)
    const { handler, params } = match
    await handler({ control: this.#control, params, url, request, response })
  }

  async #takeFiles(url: URL, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const hash = url.pathname.split('/')[2] ?? ''
    const grant = url.searchParams.get('grant') ?? ''
    await this.#control.builder.files.store(hash, grant, request)
    sendNothing(response, 200)
  }
}
