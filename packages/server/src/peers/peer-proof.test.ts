import { expectCode } from '@cairn/core/conformance'
import { describe, expect, it } from 'vitest'
import { openMasterKey } from '../access/master-key.ts'
import { PeerProof } from './peer-proof.ts'

const request = { address: '10.0.0.1', authorization: 'Bearer key_of_a_client' }

async function proofAt(nowMs: number, key = 'ab'): Promise<PeerProof> {
  return new PeerProof(await openMasterKey({ data: '', key: key.repeat(32) }), {
    nowMs: () => nowMs,
  })
}

describe('the proof that a request comes from another server', () => {
  it('tells the address of the client', async () => {
    const [peer, server] = [await proofAt(0), await proofAt(59_000)]
    for (const address of ['10.0.0.1', '::ffff:10.0.0.1', 'fe80::1%eth0', 'unknown'])
      expect(await server.read(peer.sign({ ...request, address }), request.authorization)).toBe(
        address,
      )
  })

  it('counts after the master key got a successor, and from a server that has the successor alone', async () => {
    const before = await proofAt(0)
    const keys = await openMasterKey({ data: '', key: `${'cd'.repeat(32)} ${'ab'.repeat(32)}` })
    const after = new PeerProof(keys, { nowMs: () => 0 })
    expect(await after.read(before.sign(request), request.authorization)).toBe('10.0.0.1')
  })

  it('the proof that a request comes from another server is refused with another address, key, time or master key, and when it is old', async () => {
    const [peer, server] = [await proofAt(100_000), await proofAt(100_000)]
    const [id, timeMs, address, mac] = peer.sign(request).split(' ')
    const read = (proof: string, authorization: string | undefined = request.authorization) =>
      server.read(proof, authorization)
    expect(await read(`${id} ${timeMs} ${address} ${mac}`)).toBe('10.0.0.1')
    await expectCode(read(`${id} ${timeMs} 10.0.0.2 ${mac}`), 'forbidden')
    await expectCode(read(`${id} 100001 ${address} ${mac}`), 'forbidden')
    await expectCode(read(`${id} ${timeMs} ${address} ${'A'.repeat(43)}`), 'forbidden')
    await expectCode(read(peer.sign(request), 'Bearer key_of_another'), 'forbidden')
    await expectCode(read((await proofAt(100_000, 'cd')).sign(request)), 'forbidden')
    for (const nowMs of [39_000, 161_000])
      await expectCode(read((await proofAt(nowMs)).sign(request)), 'forbidden')
    for (const text of ['', 'yes', `${id} ${timeMs} ${address}`])
      await expectCode(read(text), 'forbidden')
  })
})
