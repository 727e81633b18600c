// Stores groups of large blobs, saying each group's number once it is durable. Arguments: data directory, first number,
// last number.
import type { Hash } from '@cairn/protocol'
import { openStorage } from '../../src/storage/open.ts'
import { acknowledgeOutcome } from './acknowledge.ts'

const [data = '', first = '', last = ''] = process.argv.slice(2)
const storage = await openStorage({ data })
const blobs = storage.blobs('pool')
for (let i = Number(first); i <= Number(last); i++) {
  const group = [0, 1, 2].map((n) => [hashOf(i, n), new Uint8Array(70_000).fill(i)] as const)
  await acknowledgeOutcome(i, blobs.put(new Map(group)))
}
await storage.close()

function hashOf(group: number, n: number): Hash {
  return String.fromCharCode(group & 0xff, group >> 8, n).padEnd(32, '\0') as Hash
}
