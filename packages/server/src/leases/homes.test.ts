import type { BranchId, SessionId } from '@cairn/protocol'
import { describe, expect, it } from 'vitest'
import type { LeaseWriter } from '../ports/lease-store.ts'
import { homesOf } from './homes.ts'
import { newLease } from './lease.ts'

const nowMs = 1000

function writer(session: string, server: string): LeaseWriter {
  const address = `http://${server}`
  return { session: session as SessionId, expiresAtMs: nowMs + 1, sharesAt: server, address }
}

function homes(writers: readonly LeaseWriter[], server: string, except?: string) {
  const record = { ...newLease('branch_1' as BranchId), writers }
  return homesOf(record, { server, nowMs, except })
}

describe('the home of a branch', () => {
  it('the home of a branch is the server of its first writer, for all servers', () => {
    const writers = [writer('x', 'one'), writer('y', 'two'), writer('z', 'one')]
    expect(homes(writers, 'one')).toEqual([])
    expect(homes(writers, 'two')).toEqual(['http://one'])
    expect(homes(writers, 'three')).toEqual(['http://one', 'http://two'])
  })

  it('the home of a branch is not where the session that asks was before', () => {
    const writers = [writer('x', 'one'), writer('y', 'two')]
    expect(homes(writers, 'three', 'x')).toEqual(['http://two'])
    expect(homes(writers.slice(0, 1), 'three', 'x')).toEqual([])
  })

  it('the home of a branch is no server whose writers ran out, share nothing, or which gave no address', () => {
    const { address: _, ...unreachable } = writer('u', 'two')
    const { sharesAt, ...whole } = unreachable
    const writers = [{ ...writer('x', 'one'), expiresAtMs: nowMs }, unreachable, whole]
    expect(sharesAt).toBe('two')
    expect(homes(writers, 'three')).toEqual([])
  })
})
