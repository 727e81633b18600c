import Fastify from 'fastify'
import { describe, expect, it } from 'vitest'
import { answerInPieces, jsonPieces } from './json-pieces.ts'

const many = (count: number): object[] =>
  Array.from({ length: count }, (_, n) => ({ n, text: 'é"' }))

describe('JSON in pieces', () => {
  it('JSON in pieces is what JSON.stringify gives, with no long piece', () => {
    for (const value of [
      null,
      [],
      {},
      { items: [] },
      many(255),
      many(256),
      many(257),
      { items: many(600), next: undefined, after: 3 },
      { a: undefined, items: many(512) },
      { items: [{ seq: 1, operations: many(1000) }, { seq: 2, operations: [] }, null, 7] },
      { items: [...many(300), { operations: many(300) }, ...many(300)] },
    ]) {
      const pieces = [...jsonPieces(value)]
      expect(pieces.join('')).toBe(JSON.stringify(value))
      expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(8000)
    }
  })

  it('JSON in pieces is how long answers are sent', async () => {
    const app = Fastify()
    answerInPieces(app)
    app.get('/long', async () => ({ items: many(1000) }))
    app.get('/short', async () => ({ items: many(3) }))
    const [long, short] = [await app.inject('/long'), await app.inject('/short')]
    expect(long.headers).toMatchObject({ 'content-type': 'application/json; charset=utf-8' })
    expect(long.headers).not.toHaveProperty('content-length')
    expect(long.json()).toEqual({ items: many(1000) })
    expect(short.headers).toHaveProperty('content-length')
    expect(short.json()).toEqual({ items: many(3) })
  })
})
