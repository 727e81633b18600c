import { CairnError } from '@cairn/protocol'
import { loopPacer } from '../ports/pacer.ts'
import type { Body } from './body.ts'
import { JsonShape } from '../files/json-shape.ts'

const jsonBytesMax: number = 8 << 20
/** For all requests together: what arrives, and what the server works on. */
const allBytesMax = 128 << 20
/** For one, once all of them have too much. */
const crowdedBytesMax = 256 << 10
let bytesInHand = 0
/** Parsed at once, however many come together. */
const shortBytes = 16 << 10

/**
 * Reads a JSON body, bounded, and says plainly what is wrong with it. Its memory counts until `atEnd` calls what it is
 * given.
 */
export async function readJson(
  body: Body | undefined,
  atEnd: (release: () => void) => void = (release) => release(),
): Promise<unknown> {
  if (!body) return {}
  let held = 0
  const hold = (bytes: number): void => {
    held += bytes
    bytesInHand += bytes
    if (bytesInHand > allBytesMax && held > crowdedBytesMax) throw crowded(held)
  }
  try {
    return await readHeld(body, hold)
  } finally {
    atEnd(() => {
      bytesInHand -= held
      held = 0
    })
  }
}

async function readHeld(body: Body, hold: (bytes: number) => void): Promise<unknown> {
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
    hold(chunk.length)
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

function crowded(bytes: number): CairnError {
  return new CairnError('too_many_requests', {
    what: `take a JSON body of ${bytes} bytes and more`,
    reason: `the bodies of all requests under way have ${allBytesMax} bytes`,
  })
}
