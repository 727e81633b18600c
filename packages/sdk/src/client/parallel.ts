/**
 * Calls `work` for each item, at most `limit` at a time, taking the next item only when there is room. The first
 * failure stops the taking; the call rejects with it once all that had begun has ended.
 *
 * @example
 * ```ts
 * await forEachParallel(workspace.files.walk('/src'), 8, async (entry, signal) => {
 *   if (entry.kind === 'file') await scan(await workspace.files.read(entry.path, { signal }))
 * })
 * ```
 */
export async function forEachParallel<Item>(
  items: AsyncIterable<Item> | Iterable<Item>,
  limit: number,
  work: (item: Item, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const failing = new AbortController()
  const running = new Set<Promise<void>>()
  const start = (item: Item): void => {
    const task = work(item, failing.signal)
      .catch((error: unknown) => failing.abort(error))
      .finally(() => running.delete(task))
    running.add(task)
  }
  try {
    for await (const item of items) {
      if (failing.signal.aborted) break
      start(item)
      if (running.size >= limit) await Promise.race(running)
    }
  } catch (error) {
    failing.abort(error)
  }
  await Promise.all(running)
  failing.signal.throwIfAborted()
}
