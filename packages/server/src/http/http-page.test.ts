import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { serve } from '../serve.ts'

interface Shape {
  readonly properties?: Readonly<Record<string, unknown>>
  readonly anyOf?: readonly Shape[]
}

interface Operation {
  readonly parameters?: readonly { readonly in: string; readonly name: string }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Shape }>> }
}

const page = readFileSync(join(import.meta.dirname, '../../../../docs/reference/http.md'), 'utf8')
const code = [...page.matchAll(/`[^`\n]+`/g)].map(([text]) => text).join('\n')

describe('docs/reference/http.md', () => {
  const operations = new Map<string, Operation>()

  beforeAll(async () => {
    const data = mkdtempSync(join(tmpdir(), 'cairn-http-page-'))
    const serving = await serve({ data, listen: '127.0.0.1:0' })
    const answer = await fetch(`${serving.url}/v1/openapi.json`)
    const { paths } = (await answer.json()) as {
      paths: Record<string, Record<string, Operation>>
    }
    await serving.close()
    rmSync(data, { recursive: true })
    for (const [url, methods] of Object.entries(paths))
      for (const [method, operation] of Object.entries(methods))
        operations.set(`${method.toUpperCase()} ${url}`, operation)
    // Fastify adds HEAD wherever a GET is.
    for (const route of operations.keys())
      if (route.startsWith('HEAD ') && !route.endsWith('/files/{path}')) operations.delete(route)
  })

  it('names every route of a server', () => {
    const spelled = [...operations.keys()].map((route) =>
      route.replace('/v1/workspaces/{workspace}/', '…/'),
    )
    const missing = spelled.filter((route) => !new RegExp(`\`${escape(route)}[\`?]`).test(page))
    expect(missing).toEqual([])
  })

  it('names every query parameter and every field of a body', () => {
    const missing = [...operations].flatMap(([route, operation]) =>
      namesOf(operation)
        .filter((name) => !new RegExp(`(?<![\\w-])${name}(?![\\w-])`).test(code))
        .map((name) => `${route}: ${name}`),
    )
    expect(missing).toEqual([])
  })

  it('names no route that a server does not have', () => {
    const named = [...page.matchAll(/`(GET|HEAD|PUT|POST|PATCH|DELETE) ((?:…|\/)[^`?\s]*)/g)]
    const unknown = named
      .map(([, method, url]) => `${method} ${url!.replace('…', '/v1/workspaces/{workspace}')}`)
      .filter((route) => !operations.has(route))
    expect(unknown).toEqual([])
  })
})

/** What a request may carry beside its path. */
function namesOf({ parameters = [], requestBody }: Operation): string[] {
  const queried = parameters.filter((parameter) => parameter.in === 'query')
  const bodies = Object.values(requestBody?.content ?? {}).map(({ schema }) => schema)
  return [...queried.map(({ name }) => name), ...bodies.flatMap(fieldsOf)]
}

function fieldsOf({ properties = {}, anyOf = [] }: Shape): string[] {
  return [...Object.keys(properties), ...anyOf.flatMap(fieldsOf)]
}

function escape(text: string): string {
  return text.replaceAll(/[{}/.]/g, String.raw`\$&`)
}
