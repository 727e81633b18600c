import { BundleReader } from './chain.ts'
import { decodeHead } from './head.ts'
import { malformed } from './records.ts'
import type { EarlierBundle } from './write-bundle.ts'

/** What a client tells of a bundle that it has: how it begins, up to the end of its head, and then its id. */
export async function readEarlier(body: AsyncIterable<Uint8Array>): Promise<EarlierBundle> {
  const reader = new BundleReader(body)
  if (!(await reader.begin())) throw malformed('it is empty')
  const { type, payload } = await reader.next()
  if (type !== 'head') throw malformed('it does not begin with its head')
  return { head: await decodeHead(payload), id: await reader.lastHash() }
}
