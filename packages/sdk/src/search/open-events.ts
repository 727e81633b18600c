import { type ApiErrorBody, fromErrorBody } from '@cairn/protocol'
import type { OpenAnswer } from '../client/answer.ts'
import type { Connection } from '../client/connection.ts'
import type { RequestOptions } from '../client/deadline.ts'
import { CairnError } from '../client/error.ts'
import { readLines } from '../client/lines.ts'
import type { ApiCall } from '../client/request.ts'

interface AnyEvent {
  readonly type: string
  readonly data: unknown
}

type SummaryOf<E> = E extends { readonly type: 'summary'; readonly data: infer Data } ? Data : never

export interface OpenEvents<Event extends AnyEvent> {
  /** All but the summary. */
  readonly events: AsyncIterable<Event>
  /** Once the events are read. */
  readonly summary: () => SummaryOf<Event>
}

/** One answer that has a line for each event, and at last a summary or the error that ended it. */
export async function openEvents<Event extends AnyEvent>(
  connection: Connection,
  call: ApiCall,
  options: RequestOptions,
): Promise<OpenEvents<Event>> {
  const answer = await connection.open(call, options)
  let last: SummaryOf<Event> | undefined
  const events = async function* (): AsyncGenerator<Event> {
    try {
      for await (const event of parse<Event>(call, answer))
        if (event.type === 'summary') last = event.data as SummaryOf<Event>
        else yield event
    } finally {
      answer.cancel()
    }
    if (last === undefined) throw cut(call)
  }
  return { events: events(), summary: () => last! }
}

type Failure = { readonly type: 'error'; readonly data: ApiErrorBody }

async function* parse<Event extends AnyEvent>(
  call: ApiCall,
  answer: OpenAnswer,
): AsyncGenerator<Event> {
  for await (const line of readLines(answer)) {
    const event = JSON.parse(line) as Event | Failure
    if (event.type === 'error') throw failed(call, (event as Failure).data)
    yield event as Event
  }
}

function failed({ what }: ApiCall, { error }: ApiErrorBody): CairnError {
  return fromErrorBody({ ...error, what })
}

function cut({ what }: ApiCall): CairnError {
  return new CairnError('unreachable', { what, reason: 'the answer ended in its middle' })
}
