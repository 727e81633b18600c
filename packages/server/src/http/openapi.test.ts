import { readFileSync } from 'node:fs'
import * as described from '@cairn/protocol/routes'
import type { Routes } from '@cairn/protocol/routes'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { memoryServers } from '../testing/memory-servers.ts'
import { openApiOf } from './openapi.ts'
import { exampleOf } from './schema-example.ts'
import { validatorOf } from './validate.ts'

const page = readFileSync(new URL('../../../../docs/reference/http.md', import.meta.url), 'utf8')
const root = '/v1/workspaces/{workspace}'

const ajv = new Ajv()
const tables = Object.entries(described)
  .filter(([name]) => name.endsWith('Routes'))
  .map(([, table]) => table as Routes)

describe('the OpenAPI document', () => {
  it.each(tables.flatMap((table) => Object.entries(table)))(
    '%s: the schemas are sound, and the examples fit them',
    (_key, { params, query, body, answers }) => {
      const given = Object.values(answers).flatMap((answer) => [answer].flat())
      for (const schema of [params, query, ...[body].flat(), ...given]) {
        if (!schema || described.isMedia(schema)) continue
        expect(ajv.validateSchema(schema)).toBe(true)
        validatorOf(schema)(exampleOf(schema), 'the example')
      }
    },
  )

  it('has each answer with a schema and an example, and named schemas once', () => {
    const config = { access: 'owner', route: described.keyRoutes['POST /v1/keys'] } as const
    const document = openApiOf([{ method: 'POST', url: '/v1/keys', config }])
    expect(document).toMatchObject({
      paths: {
        '/v1/keys': {
          post: {
            requestBody: { content: { 'application/json': { example: { name: 'alice' } } } },
            responses: {
              201: {
                content: {
                  'application/json': {
                    schema: { $ref: '#/components/schemas/IssuedKey' },
                    example: { name: 'alice', state: 'live' },
                  },
                },
              },
            },
          },
        },
      },
      components: { schemas: { IssuedKey: { type: 'object' } } },
    })
  })

  it('has every route of layers, and docs/reference/http.md tells of each', async () => {
    const { paths } = await memoryServers().open().openApi()
    const routes = Object.entries(paths)
      .filter(([url]) => url.startsWith(`${root}/layers`) || url === `${root}/fork`)
      .flatMap(([url, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${url.slice(root.length)}`),
      )
    const layer = '/layers/{layer}'
    // Whatever can be read has a HEAD of its own accord.
    const told = routes.filter((route) => !route.startsWith('HEAD'))
    expect(told.sort()).toEqual(
      [
        'POST /fork',
        'GET /layers',
        'POST /layers',
        ...['DELETE', 'GET', 'PATCH'].map((method) => `${method} ${layer}`),
        ...['chain', 'checkpoints', 'diff'].map((noun) => `GET ${layer}/${noun}`),
        ...['abandon', 'checkpoints', 'commit', 'pick', 'rebase', 'reopen', 'resolve'].map(
          (verb) => `POST ${layer}/${verb}`,
        ),
        ...['rollback', 'undo'].map((verb) => `POST ${layer}/${verb}`),
        `DELETE ${layer}/checkpoints/{checkpoint}`,
      ].sort(),
    )
    for (const route of told) {
      const [method, url] = route.split(' ')
      const spellings = [
        `\`${route}`,
        `\`${method} ${root}${url}`,
        `\`${url!.slice(layer.length)}\``,
      ]
      expect(
        spellings.some((text) => page.includes(text)),
        route,
      ).toBe(true)
    }
  })
})
