type Call<K, V, R> = (items: ReadonlyMap<K, V>) => Promise<R>

/**
 * Calls that come while one is under way are made together, as the next: each gets what became of all. Many small
 * statements cost this thread more than one for all of them.
 */
export function gather<K, V, R>(call: Call<K, V, R>): Call<K, V, R> {
  let running: Promise<unknown> = Promise.resolve()
  let next: { readonly items: Map<K, V>; readonly result: Promise<R> } | undefined
  return (items) => {
    if (!next) {
      const all = new Map<K, V>()
      const result = running.then(() => {
        next = undefined
        return call(all)
      })
      running = result.catch(() => undefined)
      next = { items: all, result }
    }
    for (const [key, value] of items) next.items.set(key, value)
    return next.result
  }
}
