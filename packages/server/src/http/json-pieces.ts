import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { loopPacer } from '../ports/pacer.ts'

/** An array with more than these is written in pieces: of 200,000 changes, JSON takes 100 ms. */
const itemsPerPiece = 256

/** Sends answers with long lists piece by piece, so that others have their turn in between. */
export function answerInPieces(app: FastifyInstance): void {
  app.addHook('preSerialization', async (_request, reply, payload) => {
    // Fastify sends what a serializer gives, a stream too; its types do not say so.
    if (isLong(payload))
      reply.serializer(((value: unknown) => Readable.from(paced(value))) as never)
    return payload
  })
}

async function* paced(value: unknown): AsyncGenerator<string> {
  for (const piece of jsonPieces(value)) {
    if (loopPacer.isDue()) await loopPacer.rest()
    yield piece
  }
}

/** What `JSON.stringify` gives, in pieces. For plain data: no `toJSON`, no undefined in arrays. */
export function* jsonPieces(value: unknown): Generator<string> {
  if (!isLong(value)) yield JSON.stringify(value)
  else if (Array.isArray(value)) yield* piecesOfArray(value)
  else yield* piecesOfObject(value)
}

function* piecesOfArray(items: readonly unknown[]): Generator<string> {
  let [before, piece, count] = ['[', '', 0]
  for (const item of items) {
    if (isLong(item)) {
      yield `${piece}${before}`
      yield* jsonPieces(item)
      piece = ''
    } else piece += `${before}${JSON.stringify(item)}`
    before = ','
    if (++count % itemsPerPiece > 0) continue
    yield piece
    piece = ''
  }
  yield `${piece}${count === 0 ? '[' : ''}]`
}

function* piecesOfObject(value: object): Generator<string> {
  let before = '{'
  for (const [key, field] of Object.entries(value)) {
    if (field === undefined) continue
    yield `${before}${JSON.stringify(key)}:`
    yield* jsonPieces(field)
    before = ','
  }
  yield before === '{' ? '{}' : '}'
}

/** Whether there is a long list in it: itself, in a field, or in an item of a list in a field. */
function isLong(value: unknown, depth = 4): value is object {
  if (typeof value !== 'object' || value === null || depth === 0) return false
  if (Array.isArray(value) && value.length > itemsPerPiece) return true
  return Object.values(value).some((part) => isLong(part, depth - 1))
}
