import type { Page } from '@cairn/protocol'
import type { Connection } from '../client/connection.ts'
import type { RequestOptions } from '../client/deadline.ts'
import type { ApiCall } from '../client/request.ts'

export interface PageOptions extends RequestOptions {
  /** How many the server sends at a time, at most 1000. The iteration gives all of them anyway. */
  readonly pageSize?: number | undefined
}

/** All items of a paged answer, the next page asked for when the last one is used up. `first` is a cursor to begin at. */
export async function* readPages<Item>(
  connection: Connection,
  call: ApiCall,
  { pageSize = 1000, ...options }: PageOptions,
  first?: string,
): AsyncGenerator<Item> {
  let cursor = first
  do {
    const query = { ...call.query, limit: pageSize, cursor }
    const page: Page<Item> = await connection.json<Page<Item>>({ ...call, query }, options)
    yield* page.items
    cursor = page.next
  } while (cursor !== undefined)
}
