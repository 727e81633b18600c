import { errorTable } from '@cairn/protocol'
import type { RouteAccess } from './authenticate.ts'

export interface RouteInfo {
  readonly method: string
  readonly url: string
  readonly schema: object
  readonly access: RouteAccess | undefined
}

interface Schema {
  readonly summary?: string
  readonly querystring?: {
    readonly properties: Readonly<Record<string, object>>
    readonly required: readonly string[]
  }
  readonly body?: object
}

const streamed = new Set(['put', 'patch'])

/** Built from the routes themselves, so it cannot tell of one that is not there, or miss one. */
export function openApiOf(routes: readonly RouteInfo[]): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const route of routes) {
    const method = route.method.toLowerCase()
    const url = urlTemplate(route.url)
    const described = operation(method, url, route.schema as Schema)
    paths[url] = { ...paths[url], [method]: { ...described, 'x-access': route.access } }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Cairn',
      version: '1',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    security: [{ key: [] }],
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
      schemas: { Error: errorSchema },
    },
    paths,
  }
}

/** Files have their path in the URL, percent-encoded; the router does not see it. */
function urlTemplate(url: string): string {
  const template = url.replace(/:(\w+)/g, '{$1}')
  return template.endsWith('/files') ? `${template}/{path}` : template
}

function operation(method: string, url: string, schema: Schema): object {
  return {
    operationId: operationId(method, url),
    summary: schema.summary,
    parameters: [...pathParameters(url), ...queryParameters(schema)],
    ...requestBody(method, url, schema),
    responses: {
      '2XX': { description: 'Done' },
      default: {
        description: 'An error of docs/reference/errors.md',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    },
  }
}

function operationId(method: string, url: string): string {
  const words = url.split(/[/{}.]+/).filter((word) => word !== '' && word !== 'v1')
  return method + words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('')
}

function pathParameters(url: string): object[] {
  return [...url.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
}

function queryParameters({ querystring }: Schema): object[] {
  return Object.entries(querystring?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: querystring?.required.includes(name) ?? false,
    schema,
  }))
}

function requestBody(method: string, url: string, { body }: Schema): object {
  if (body) return { requestBody: { content: { 'application/json': { schema: body } } } }
  if (!streamed.has(method) || !url.endsWith('{path}')) return {}
  const bytes = { type: 'string', contentMediaType: 'application/octet-stream' }
  return { requestBody: { content: { 'application/octet-stream': { schema: bytes } } } }
}

const errorSchema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'what', 'reason', 'hint', 'retry', 'requestId'],
      properties: {
        code: { enum: Object.keys(errorTable) },
        message: { type: 'string' },
        what: { type: 'string' },
        reason: { type: 'string' },
        hint: { type: 'string' },
        errno: { type: 'string' },
        retry: { enum: ['never', 'same-request', 'after-refresh'] },
        subject: { type: 'string' },
        conflicts: { type: 'array', items: { type: 'object' } },
        refused: { type: 'object' },
        candidates: { type: 'array', items: { type: 'string' } },
        requestId: { type: 'string' },
      },
    },
  },
}
