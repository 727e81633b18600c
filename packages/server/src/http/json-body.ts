import { CairnError } from '@cairn/protocol'
import { loopPacer } from '../ports/pacer.ts'
import type { Body } from './body.ts'
import { JsonShape } from '../files/json-shape.ts'

const jsonBytesMax: number = 8 << 20
/** Parsed at once, however many come together. */
const shortBytes = 16 << 10

/** Reads a JSON body, bounded, and says plainly what is wrong with it. */
export async function readJson(body: Body | undefined): Promise<unknown> {
  if (!body) return {}
  const chunks: Uint8Array[] = []
  const shape = new JsonShape()
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    if (length > jsonBytesMax)
      throw new CairnError('too_large', {
        what: 'read the JSON body',
        reason: `it has more than ${jsonBytesMax} bytes`,
      })
    shape.add(chunk)
    chunks.push(chunk)
  }
  if (length === 0) return {}
  // A connection each for many of them: all would be parsed in one turn.
  if (length > shortBytes && loopPacer.isDue()) await loopPacer.rest()
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)))
  } catch (cause) {
    throw new CairnError('malformed', { what: 'read the body', reason: 'it is not JSON', cause })
  }
}
