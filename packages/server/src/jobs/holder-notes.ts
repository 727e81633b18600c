import type { TokenStore } from '../ports/token-store.ts'
import type { LeaseStore } from '../ports/lease-store.ts'

const holdersAtOnce = 500
/** A token narrowed or not, one of its sessions, or its content. */
const tokenOfHolder = /^(?:s_|blobs:)?(tok_[A-Za-z0-9_-]+)/

/**
 * Deletes what is noted of tokens that are gone, and of their sessions: a sandbox that was killed said no goodbye. A
 * token that is there may come back with any of its sessions, and one without a row never does.
 */
export async function forgetGoneHolders(
  leases: Pick<LeaseStore, 'listHolders' | 'removeNotes'>,
  tokens: Pick<TokenStore, 'findAll'>,
): Promise<void> {
  for (let after = ''; ;) {
    const holders = await leases.listHolders(after, holdersAtOnce)
    const ids = holders.map((holder) => tokenOfHolder.exec(holder)?.[1] ?? '')
    const there = new Set((await tokens.findAll([...new Set(ids)])).map(({ id }) => id))
    for (const [at, holder] of holders.entries())
      if (ids[at] !== '' && !there.has(ids[at]!)) await leases.removeNotes(holder)
    if (holders.length < holdersAtOnce) return
    after = holders.at(-1)!
  }
}
