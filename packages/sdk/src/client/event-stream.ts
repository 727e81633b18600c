import type { Connection } from './connection.ts'
import type { RequestOptions } from './deadline.ts'
import type { ApiCall } from './request.ts'
import { isPassing, pauseMs } from './retry.ts'
import { readEvents, type ServerSentEvent } from './server-sent-events.ts'

/**
 * The events of a route, over as many connections as it takes; each begins behind `after`. Waits for a server that is
 * away for a while. One that refuses ends the iteration with its error.
 */
export async function* streamEvents(
  connection: Connection,
  call: ApiCall,
  after: () => number | undefined,
  options: RequestOptions,
): AsyncGenerator<ServerSentEvent> {
  const signal = options.signal ?? new AbortController().signal
  const { clock } = connection
  let wasOpen = false
  for (let failures = 0; ;) {
    try {
      const query = { ...call.query, after: after() }
      const headers = { accept: 'text/event-stream' }
      const answer = await connection.open({ ...call, headers, query }, options)
      wasOpen = true
      try {
        for await (const event of readEvents(answer)) {
          failures = 0
          yield event
        }
      } finally {
        answer.cancel()
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
