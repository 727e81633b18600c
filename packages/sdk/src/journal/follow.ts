import type { HashedEntry } from '@cairn/protocol'
import type { Connection } from '../client/connection.ts'
import type { RequestOptions } from '../client/deadline.ts'
import { streamEvents } from '../client/event-stream.ts'
import type { ApiCall } from '../client/request.ts'

/** Entries as they are appended, until the journal is sealed. */
export async function* followEntries(
  connection: Connection,
  call: ApiCall,
  { after, ...options }: RequestOptions & { readonly after?: number | undefined },
): AsyncGenerator<HashedEntry> {
  let last = after
  for await (const { id, event, data } of streamEvents(connection, call, () => last, options)) {
    if (event === 'end') return
    if (event === 'entry') {
      const entry = JSON.parse(data) as HashedEntry
      last = entry.seq
      yield entry
    } else if (/^\d+$/.test(id)) last ??= Number(id)
  }
}
