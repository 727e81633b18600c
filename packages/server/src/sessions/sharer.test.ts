import { setImmediate } from 'node:timers/promises'
import type { Ino, SessionId, SessionReply } from '@cairn/protocol'
import { expect, it } from 'vitest'
import type { LeaseKeeper } from '../leases/lease-keeper.ts'
import { LeaseSharing } from '../leases/sharing.ts'
import { systemClock } from '../ports/clock.ts'
import type { SessionParts } from './session.ts'
import { Sharer } from './sharer.ts'

const [holder, comer] = ['a', 'b'] as [SessionId, SessionId]
const directory = 7 as Ino

it('a session that joins while the last holder leaves may show every directory', async () => {
  const keeper = { holders: [holder], record: { epoch: 1 } } as unknown as LeaseKeeper
  const sharing = new LeaseSharing(keeper, systemClock())
  const sent: SessionReply[] = []
  const parts = { keeper: Object.assign(keeper, { sharing }) } as unknown as SessionParts
  const sharer = new Sharer(comer, parts, (reply) => void sent.push(reply))
  sharer.join()
  Object.assign(keeper, { holders: [] })
  sharer.noteTold('shared', 1)
  await setImmediate()
  const [forget] = sent
  if (forget?.type !== 'forget') throw new Error('it was not asked to forget what it had before')
  sharer.done(forget.id)
  await setImmediate()
  expect(sharing.noted(directory).looked).toEqual([comer])
})
