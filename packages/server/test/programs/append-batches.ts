// Appends to a log, saying each number once it is durable. Arguments: data directory, branch, first number, last
// number; without the last one it goes on until it is killed.
import type { BranchId, Hash, SessionId } from '@cairn/protocol'
import { openStorage } from '../../src/storage/open.ts'
import { acknowledgeOutcome } from './acknowledge.ts'

const [data = '', branch = '', first = '', last = 'Infinity'] = process.argv.slice(2)
const storage = await openStorage({ data })
const session = 's' as SessionId
const hash = '\0'.repeat(32) as Hash
for (let seq = Number(first); seq <= Number(last); seq++) {
  const bytes = new Uint8Array(2000).fill(seq)
  const row = { seq, session, number: seq, bytes, hash }
  await acknowledgeOutcome(seq, storage.log.append(branch as BranchId, [row]))
}
await storage.close()
