import { CairnError, type Hash, isCairnError } from '@cairn/protocol'
import type { Chance } from './chance.ts'

export function unavailable(): CairnError {
  return new CairnError('storage_unavailable', { what: 'reach the store', reason: 'it is away' })
}

/** Asks until there is an answer. */
export async function ask<Answer>(question: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    try {
      return await question()
    } catch (error) {
      if (!isCairnError(error, 'storage_unavailable')) throw error
    }
  }
}

/** For those who can do without an answer. */
export function passUnavailable(error: unknown): undefined {
  if (!isCairnError(error, 'storage_unavailable')) throw error
  return undefined
}

interface HashStore {
  get(hash: Hash): Promise<Uint8Array>
  put(items: ReadonlyMap<Hash, Uint8Array>): Promise<void>
}

/** Nodes or blobs in a store that now and then takes nothing, or takes it and does not say so. */
export function failPuts(store: HashStore, chance: Chance): HashStore {
  return {
    get: (hash) => store.get(hash),
    put: async (items) => {
      const fails = chance.oneIn(3)
      if (!fails || chance.oneIn(2)) await store.put(items)
      if (fails) throw unavailable()
    },
  }
}
