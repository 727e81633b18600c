import { describe, expect, it } from 'vitest'
import { decodeMessages, encodeEnd, encodeMessage } from './framing.ts'
import { RpcError } from './rpc-error.ts'

async function decode(pieces: readonly Buffer[]): Promise<unknown[]> {
  const source = (async function* () {
    yield* pieces
  })()
  const messages: unknown[] = []
  for await (const message of decodeMessages(source)) messages.push(message)
  return messages
}

describe('the framing of Connect', () => {
  it('the framing of Connect is a flag, four bytes of length, and JSON', () => {
    expect([...encodeMessage({})]).toEqual([0, 0, 0, 0, 2, 0x7b, 0x7d])
    expect([...encodeEnd()]).toEqual([2, 0, 0, 0, 2, 0x7b, 0x7d])
    const failed = encodeEnd(new RpcError('not_found', 'no'))
    expect(JSON.parse(failed.subarray(5).toString())).toEqual({
      error: { code: 'not_found', message: 'no' },
    })
  })

  it('the framing of Connect is read in whatever pieces it comes, up to its end', async () => {
    const messages = [{ a: 1 }, { text: 'ü'.repeat(100) }]
    const bytes = Buffer.concat([...messages.map(encodeMessage), encodeEnd(), encodeMessage({})])
    const single = Array.from(bytes, (byte) => Buffer.from([byte]))
    await expect(decode([bytes])).resolves.toEqual(messages)
    await expect(decode(single)).resolves.toEqual(messages)
  })

  it('refuses what is compressed', async () => {
    const message = encodeMessage({})
    message[0] = 1
    await expect(decode([message])).rejects.toMatchObject({ code: 'unimplemented' })
  })
})
