type Call<K, V, R> = (items: ReadonlyMap<K, V>) => Promise<R>

/**
 * Calls that come while one is under way are made together, as the next: each gets what became of all. Many small
 * statements cost this thread more than one for all of them.
 */
export function gather<K, V, R>(
  call: Call<K, V, R>,
  /** What becomes of two values for one key. */
  merge: (earlier: V, later: V) => V = (_, later) => later,
): Call<K, V, R> {
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
    for (const [key, value] of items) {
      const earlier = next.items.get(key)
      next.items.set(key, earlier === undefined ? value : merge(earlier, value))
    }
    return next.result
  }
}
