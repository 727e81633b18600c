import type { LogRow } from '@cairn/core'
import { expectCode } from '@cairn/core/conformance'
import type { BranchId, Hash, SessionId } from '@cairn/protocol'
import { expect, it } from 'vitest'
import { withTemporaryDirectory } from '../conformance/temporary-directory.ts'
import { openStorage } from './open.ts'

const branch = 'branch' as BranchId
const account = 'token'

function row(seq: number): LogRow {
  const [session, hash, bytes] = [
    'session' as SessionId,
    '\x01'.repeat(32) as Hash,
    Uint8Array.of(1),
  ]
  return { seq, session, number: seq, hash, bytes, answer: undefined }
}

it('a token is charged for a batch if the batch is in the log, and not otherwise', async () => {
  await withTemporaryDirectory(async (data) => {
    const storage = await openStorage({ data })
    const { log, tokens } = storage
    await tokens.create({
      id: account,
      owner: 'owner',
      workspace: 'w',
      name: 'agent',
      caveat: 'e30',
      signatureHash: new Uint8Array(32),
      issuedBy: 'key',
      createdMs: 0,
      expiresMs: 1,
      revokedMs: undefined,
      used: { bytes: 0, files: 0 },
    })
    const charge = { account, bytes: 10, files: 1 }
    await log.append(branch, [row(1)], [charge])
    expect((await tokens.find(account))?.used).toEqual({ bytes: 10, files: 1 })
    await expectCode(log.append(branch, [row(1)], [charge]), 'sequence_conflict')
    expect((await tokens.find(account))?.used).toEqual({ bytes: 10, files: 1 })
    await storage.close()
  })
})
