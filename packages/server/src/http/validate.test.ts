import { isCairnError } from '@cairn/protocol'
import { keyRoutes, type Schema } from '@cairn/protocol/routes'
import { describe, expect, it } from 'vitest'
import { compileForFastify, validatorOf } from './validate.ts'

const { body } = keyRoutes['POST /v1/keys']
const nested = {
  type: 'object',
  additionalProperties: false,
  required: ['allow'],
  properties: {
    allow: {
      type: 'array',
      minItems: 1,
      maxItems: 2,
      items: {
        type: 'object',
        required: ['path'],
        properties: { path: { type: 'string', minLength: 1 }, depth: { type: 'integer' } },
      },
    },
    tags: { type: 'object', propertyNames: { type: 'string', pattern: '^[a-z]+$' } },
    on: { type: 'boolean' },
    kind: { enum: ['a', 'b'] },
  },
} as Schema<unknown>

const either = {
  type: 'object',
  properties: { path: { type: 'string' }, pathBytes: { type: 'string' } },
  oneOf: [{ required: ['path'] }, { required: ['pathBytes'] }],
} as Schema<unknown>

function refused(schema: Schema<unknown>, value: unknown): string {
  try {
    validatorOf(schema)(value, 'the body')
  } catch (error) {
    if (isCairnError(error, 'invalid_argument')) return error.message
    throw error
  }
  throw new Error('it was taken')
}

describe('a body that does not fit its schema', () => {
  it.each([
    [body, [], 'must be a JSON object'],
    [body, {}, 'name is missing'],
    [body, { name: 5 }, 'name must be a string'],
    [
      body,
      { name: 'a b' },
      "name must be 1 to 64 letters, digits, dots, hyphens and @, with a letter or digit first; got 'a b'",
    ],
    [body, { name: 'a', nmae: 'b' }, 'nmae is not known here; there is name'],
    [nested, { allow: [] }, 'allow must be a list of 1 to 2'],
    [nested, { allow: [{ path: '/' }, {}] }, 'allow[1].path is missing'],
    [nested, { allow: [{ path: '' }] }, 'allow[0].path must not be empty'],
    [nested, { allow: [{ path: '/', depth: 1.5 }] }, 'allow[0].depth must be a whole number'],
    [nested, { allow: [{ path: '/' }], on: 'true' }, 'on must be true or false'],
    [nested, { allow: [{ path: '/' }], kind: 'c' }, "kind must be one of a, b; got 'c'"],
    [
      nested,
      { allow: [{ path: '/' }], tags: { A: 1 } },
      "tags has the name 'A', which must be text that matches ^[a-z]+$; got 'A'",
    ],
    [either, {}, 'path is missing'],
    [either, { path: '/', pathBytes: '' }, 'give path or pathBytes, not both'],
  ])('%#: says which field, and why', (schema, value, message) => {
    expect(refused(schema, value)).toContain(`cannot read the body: ${message}`)
  })
})

describe('a query', () => {
  const limit = { type: 'integer', maximum: 10, default: 5 }
  const schema = { type: 'object', additionalProperties: false, properties: { limit } }
  const take = compileForFastify({ schema, httpPart: 'querystring' })

  it('a query is text: numbers are read from it, and defaults are put in', () => {
    expect(take({ limit: '7' })).toEqual({ value: { limit: 7 } })
    expect(take({})).toEqual({ value: { limit: 5 } })
  })

  it('says which parameter is wrong, and names it as the subject', () => {
    expect(take({ limit: '11' })).toMatchObject({
      error: {
        message: expect.stringContaining('cannot read the query: limit must be at most 10'),
        subject: 'limit',
      },
    })
    expect(take({ lmit: '1' })).toMatchObject({
      error: { message: expect.stringContaining('lmit is not known here'), subject: 'lmit' },
    })
  })
})
