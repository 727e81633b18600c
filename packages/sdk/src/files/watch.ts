import type { ChangeEvent, RadarEvent } from '@cairn/protocol'
import type { Connection } from '../client/connection.ts'
import type { RequestOptions } from '../client/deadline.ts'
import { streamEvents } from '../client/event-stream.ts'
import type { ApiCall } from '../client/request.ts'
import type { ServerSentEvent } from '../client/server-sent-events.ts'

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

/** Changes each once and in order, over however many connections, and warnings as they come. */
export async function* watchAllEvents(
  connection: Connection,
  call: ApiCall,
  { after, ...options }: WatchOptions,
): AsyncGenerator<LayerEvent> {
  let last = after
  for await (const event of streamEvents(connection, call, () => last, options)) {
    const { seq, change, radar } = parseEvent(event)
    if (radar) yield { type: 'radar', ...radar }
    if (seq === undefined || (last !== undefined && seq <= last)) continue
    last = seq
    if (change) yield { type: 'change', ...change }
  }
}

interface Heard {
  /** Undefined when it is about no place in the log. */
  readonly seq?: number
  /** Undefined when the server only tells where it stands. */
  readonly change?: ChangeEvent
  readonly radar?: RadarEvent
}

/** Nothing for kinds of event that a newer server may send. */
function parseEvent({ id, event, data }: ServerSentEvent): Heard {
  if (event === 'change' && data !== '') {
    const change = JSON.parse(data) as ChangeEvent
    return { seq: change.seq, change }
  }
  if (event === 'radar' && data !== '') return { radar: JSON.parse(data) as RadarEvent }
  return /^\d+$/.test(id) ? { seq: Number(id) } : {}
}
