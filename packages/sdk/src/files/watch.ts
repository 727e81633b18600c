import type { ChangeEvent, RadarEvent } from '@cairn/protocol'
import type { Connection } from '../client/connection.ts'
import type { RequestOptions } from '../client/deadline.ts'
import type { ApiCall } from '../client/request.ts'
import { isPassing, pauseMs } from '../client/retry.ts'
import { readEvents, type ServerSentEvent } from '../client/server-sent-events.ts'

export interface WatchOptions extends RequestOptions {
  /** A sequence number: changes after it come first, then new ones. Only new ones unless given. */
  readonly after?: number | undefined
}

/** What a layer's stream tells: its own changes, and who else works on the same paths. */
export type LayerEvent =
  | ({ readonly type: 'change' } & ChangeEvent)
  | ({ readonly type: 'radar' } & RadarEvent)

/** Changes as they happen. */
export async function* watchEvents(
  connection: Connection,
  call: ApiCall,
  options: WatchOptions,
): AsyncGenerator<ChangeEvent> {
  for await (const event of watchAllEvents(connection, call, options)) {
    if (event.type !== 'change') continue
    const { type: _, ...change } = event
    yield change
  }
}

/**
 * Changes each once and in order, over however many connections, and warnings as they come. A server that is away for
 * a while is waited for; one that says no ends the iteration with its error.
 */
export async function* watchAllEvents(
  connection: Connection,
  call: ApiCall,
  { after, ...options }: WatchOptions,
): AsyncGenerator<LayerEvent> {
  const signal = options.signal ?? new AbortController().signal
  const { clock } = connection
  let last = after
  let wasOpen = false
  for (let failures = 0; ;) {
    try {
      for await (const heard of listen(connection, call, last, options)) {
        wasOpen = true
        if (heard === 'open') continue
        failures = 0
        if (heard.radar) yield { type: 'radar', ...heard.radar }
        if (heard.seq === undefined) continue
        if (last !== undefined && heard.seq <= last) continue
        last = heard.seq
        if (heard.change !== undefined) yield { type: 'change', ...heard.change }
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

interface Heard {
  /** Undefined when it is about no place in the log. */
  readonly seq?: number
  /** Undefined when the server only tells where it stands. */
  readonly change?: ChangeEvent
  readonly radar?: RadarEvent
}

/** One connection's worth of events. */
async function* listen(
  connection: Connection,
  call: ApiCall,
  after: number | undefined,
  options: RequestOptions,
): AsyncGenerator<Heard | 'open'> {
  const headers = { accept: 'text/event-stream' }
  const query = { ...call.query, after }
  const answer = await connection.open({ ...call, headers, query }, options)
  try {
    yield 'open'
    for await (const event of readEvents(answer)) {
      const heard = parseEvent(event)
      if (heard !== undefined) yield heard
    }
  } finally {
    answer.cancel()
  }
}

/** Undefined for kinds of event that a newer server may send. */
function parseEvent({ id, event, data }: ServerSentEvent): Heard | undefined {
  if (event === 'change' && data !== '') {
    const change = JSON.parse(data) as ChangeEvent
    return { seq: change.seq, change }
  }
  if (event === 'radar' && data !== '') return { radar: JSON.parse(data) as RadarEvent }
  return /^\d+$/.test(id) ? { seq: Number(id) } : undefined
}
