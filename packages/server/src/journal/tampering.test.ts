import { generateKeyPairSync, hash, sign } from 'node:crypto'
import { canonicalJson, isCairnError, type Json, signedText } from '@cairn/protocol'
import { describe, expect, it } from 'vitest'
import { checkText } from '../conformance/journal.ts'

/** An export that was written by hand, after docs/guides/journal.md. */
function writeExport(): { text: string; publicKey: string } {
  const { publicKey: key, privateKey } = generateKeyPairSync('ed25519')
  const publicKey = key.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex')
  const place = { journal: 'j', workspace: 'w' }
  const header = {
    ...place,
    title: 'é',
    kind: '',
    meta: {},
    createdAt: '1',
    createdBy: 'k',
    publicKey,
  }
  const lines = [canonicalJson({ header })]
  let previous = hash('sha256', canonicalJson(header), 'hex')
  for (const [index, type] of ['a', 'b'].entries()) {
    const entry: Json = {
      ...place,
      seq: index + 1,
      previous,
      time: '2',
      by: 'k',
      type,
      summary: [1],
    }
    previous = hash('sha256', canonicalJson(entry), 'hex')
    lines.push(canonicalJson({ entry }))
  }
  const head = { ...place, seq: 2, hash: previous, time: '2', sealed: false }
  const signature = sign(null, Buffer.from(signedText(head)), privateKey).toString('hex')
  lines.push(canonicalJson({ head, signature }))
  return { text: `${lines.join('\n')}\n`, publicKey }
}

describe('an export', () => {
  const { text, publicKey } = writeExport()
  const bytes = Buffer.from(text)
  const isFound = async (changed: Uint8Array): Promise<boolean> => {
    try {
      // What is no UTF-8 is no export: the readers of files see to that.
      await checkText(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(changed))
      return false
    } catch (error) {
      return error instanceof TypeError || isCairnError(error, 'chain_broken')
    }
  }

  it('written by hand is accepted', async () => {
    expect(await checkText(text, { publicKey })).toMatchObject({ journal: 'j', entries: 2 })
  })

  it.each([1, 0x20, 0x80, 0xff])(
    'an export with any byte changed by %i is refused',
    async (mask) => {
      for (let at = 0; at < bytes.length; at++) {
        const changed = Buffer.from(bytes)
        changed[at]! ^= mask
        expect([at, await isFound(changed)]).toEqual([at, true])
      }
    },
  )

  it('an export with any byte missing or doubled is refused', async () => {
    for (let at = 0; at < bytes.length; at++) {
      const missing = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)])
      const doubled = Buffer.concat([bytes.subarray(0, at + 1), bytes.subarray(at)])
      expect([at, await isFound(missing), await isFound(doubled)]).toEqual([at, true, true])
    }
  })

  it('cut anywhere is refused', async () => {
    for (let at = 0; at < bytes.length; at++)
      expect([at, await isFound(bytes.subarray(0, at))]).toEqual([at, true])
  })

  it('an export with lines in another order, or one line twice, is refused', async () => {
    const lines = text.split('\n').slice(0, -1)
    for (const order of [
      [0, 2, 1, 3],
      [1, 0, 2, 3],
      [0, 1, 3],
      [0, 1, 1, 2, 3],
      [0, 1, 2, 3, 3],
    ])
      expect(await isFound(Buffer.from(order.map((n) => `${lines[n]}\n`).join('')))).toBe(true)
  })
})
