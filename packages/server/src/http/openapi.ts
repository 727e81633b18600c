import {
  type RouteAnswer,
  ApiErrorBody,
  isMedia,
  type Route,
  type Schema,
} from '@cairn/protocol/routes'
import type { FastifyContextConfig } from 'fastify'
import { exampleOf } from './schema-example.ts'

export interface RouteInfo {
  readonly method: string
  readonly url: string
  readonly config: FastifyContextConfig
}

type Json = Readonly<Record<string, unknown>>

/** Built from the routes themselves, so it cannot name one that is not there, or miss one. */
export function openApiOf(routes: readonly RouteInfo[]): object {
  const components = new Components()
  const paths: Record<string, Record<string, object>> = {}
  for (const { method: verb, url: template, config } of routes) {
    const method = verb.toLowerCase()
    const url = urlTemplate(template)
    if (!config.route) throw new Error(`${verb} ${template} has no schema`)
    const described = operation(components, method, url, config.route)
    paths[url] = { ...paths[url], [method]: { ...described, 'x-access': config.access } }
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
      schemas: components.schemas,
    },
    paths,
  }
}

/** Schemas with a name stand in the document once; all others where they are used. */
class Components {
  readonly schemas: Record<string, unknown> = {}

  /** A copy in which named schemas are references. */
  place(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.place(item))
    if (typeof value !== 'object' || value === null) return value
    const { title } = value as { title?: unknown }
    if (typeof title !== 'string') return this.#placeFields(value)
    // An object that a server answers with may have more fields in a newer version.
    this.schemas[title] ??= this.#placeFields({ ...value, additionalProperties: undefined })
    return { $ref: `#/components/schemas/${title}` }
  }

  #placeFields(value: object): Json {
    const entries = Object.entries(value).filter(
      ([key, field]) => key !== 'wants' && field !== undefined,
    )
    return Object.fromEntries(entries.map(([key, field]) => [key, this.place(field)]))
  }
}

/** Files have their path in the URL, percent-encoded; the router does not see it. */
function urlTemplate(url: string): string {
  const template = url.replace(/:(\w+)/g, '{$1}')
  return template.endsWith('/files') ? `${template}/{path}` : template
}

function operation(components: Components, method: string, url: string, route: Route): object {
  return {
    operationId: operationId(method, url),
    summary: route.summary,
    parameters: [
      ...pathParameters(components, url, route),
      ...queryParameters(components, route.query),
    ],
    ...(route.body ? { requestBody: bodiesOf(components, [route.body].flat()) } : {}),
    responses: {
      ...responsesOf(components, route),
      default: {
        description: 'An error of docs/reference/errors.md',
        content: contentOf(components, ApiErrorBody),
      },
    },
  }
}

function operationId(method: string, url: string): string {
  const words = url.split(/[/{}.]+/).filter((word) => word !== '' && word !== 'v1')
  return method + words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('')
}

interface ObjectKeywords {
  readonly properties?: Readonly<Record<string, Json>>
  readonly required?: readonly string[]
}

function pathParameters(components: Components, url: string, { params = {} }: Route): object[] {
  const { properties = {} } = params as ObjectKeywords
  return [...url.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: components.place(properties[name] ?? { type: 'string' }),
  }))
}

function queryParameters(components: Components, query: Schema<unknown> = {}): object[] {
  const { properties = {}, required = [] } = query as ObjectKeywords
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name) && !('default' in schema),
    schema: components.place(schema),
  }))
}

function responsesOf(components: Components, { answers }: Route): object {
  const entries = Object.entries(answers)
  if (entries.length === 0) return { '2XX': { description: 'Done' } }
  return Object.fromEntries(
    entries.map(([status, answer]) => [
      status,
      { description: statusWords[status] ?? 'Done', ...bodiesOf(components, [answer].flat()) },
    ]),
  )
}

const statusWords: Readonly<Record<string, string>> = {
  201: 'Created',
  204: 'Done; there is no body',
  206: 'The range that was asked for',
  304: 'Not modified',
  416: 'The range is outside of the file',
}

function bodiesOf(components: Components, answers: readonly RouteAnswer[]): object {
  const content = answers
    .filter((answer) => answer !== null)
    .map((answer) => contentOf(components, answer))
  return content.length === 0 ? {} : { content: Object.assign({}, ...content) as object }
}

function contentOf(components: Components, body: NonNullable<RouteAnswer>): object {
  if (!isMedia(body))
    return { 'application/json': { schema: components.place(body), example: exampleOf(body) } }
  const schema = { type: 'string', contentMediaType: body.media }
  if (!body.each) return { [body.media]: { schema } }
  // OpenAPI 3.1 has no word for a body of several values.
  return { [body.media]: { schema, 'x-each': components.place(body.each) } }
}
