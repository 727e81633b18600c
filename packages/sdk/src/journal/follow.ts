import type { HashedEntry } from '@cairn/protocol'
import type { Connection } from '../client/connection.ts'
import type { RequestOptions } from '../client/deadline.ts'
import type { ApiCall } from '../client/request.ts'
import { isPassing, pauseMs } from '../client/retry.ts'
import { readEvents } from '../client/server-sent-events.ts'

/** A server that is away for a while is waited for; one that says no ends the iteration with its error. */
export async function* followEntries(
  connection: Connection,
  call: ApiCall,
  { after, ...options }: RequestOptions & { readonly after?: number | undefined },
): AsyncGenerator<HashedEntry> {
  const signal = options.signal ?? new AbortController().signal
  const { clock } = connection
  let last = after
  let wasOpen = false
  for (let failures = 0; ;) {
    try {
      for await (const heard of listen(connection, call, last, options)) {
        wasOpen = true
        if (heard === 'end') return
        if (typeof heard === 'number') last ??= heard
        else {
          failures = 0
          last = heard.seq
          yield heard
        }
      }
    } catch (error) {
      signal.throwIfAborted()
      if (!wasOpen || !isPassing(error)) throw error
    }
    // Cut, or ended by a server that stops.
    failures++
    await clock.sleep(pauseMs(failures, clock), signal)
    signal.throwIfAborted()
  }
}

/** One connection's worth: entries, the number that the server begins after, and the end of a sealed journal. */
async function* listen(
  connection: Connection,
  call: ApiCall,
  after: number | undefined,
  options: RequestOptions,
): AsyncGenerator<HashedEntry | number | 'end'> {
  const headers = { accept: 'text/event-stream' }
  const answer = await connection.open({ ...call, headers, query: { after } }, options)
  try {
    for await (const { id, event, data } of readEvents(answer)) {
      if (event === 'entry') yield JSON.parse(data) as HashedEntry
      else if (event === 'end') yield 'end'
      else if (/^\d+$/.test(id)) yield Number(id)
    }
  } finally {
    answer.cancel()
  }
}
