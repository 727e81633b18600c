import * as described from '@cairn/protocol/routes'
import type { Routes } from '@cairn/protocol/routes'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { openApiOf } from './openapi.ts'
import { exampleOf } from './schema-example.ts'
import { validatorOf } from './validate.ts'

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

  it('the OpenAPI document has each answer with a schema and an example, and named schemas once', () => {
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
})
