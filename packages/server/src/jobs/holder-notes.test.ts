import { beforeEach, describe, expect, it } from 'vitest'
import { MemoryLeaseStore } from '../testing/memory-lease-store.ts'
import { MemoryTokenStore } from '../testing/memory-token-store.ts'
import { forgetGoneHolders } from './holder-notes.ts'

const note = { kind: 'inodes', value: '1+10' } as const

describe('notes of holders', () => {
  let leases: MemoryLeaseStore
  let tokens: MemoryTokenStore

  beforeEach(async () => {
    leases = new MemoryLeaseStore()
    tokens = new MemoryTokenStore()
    await tokens.create({
      id: 'tok_here-_1',
      owner: 'o',
      workspace: 'w',
      name: 'n',
      caveat: '',
      signatureHash: new Uint8Array(),
      issuedBy: 'default',
      createdMs: 0,
      expiresMs: 1,
      revokedMs: undefined,
      used: { bytes: 0, files: 0 },
    })
  })

  const holdersOf = (token: string): string[] => [
    token,
    `${token}~mark`,
    `s_${token}.uuid`,
    `s_${token}~mark.uuid`,
    `blobs:${token}`,
  ]

  it('notes are deleted with their token, its sessions and its narrowed tokens; others stay', async () => {
    const here = [...holdersOf('tok_here-_1'), 'something else']
    for (const holder of [...here, ...holdersOf('tok_gone'), ...holdersOf('tok_here-_12')])
      await leases.addNotes(holder, [note], 1)
    await forgetGoneHolders(leases, tokens)
    expect(await leases.listHolders('', 100)).toEqual(here.sort())
  })

  it('notes of a thousand killed sandboxes are all deleted', async () => {
    for (let at = 0; at < 1200; at++) await leases.addNotes(`s_tok_gone${at}.uuid`, [note], 1)
    await forgetGoneHolders(leases, tokens)
    expect(await leases.listHolders('', 1)).toEqual([])
  })
})
