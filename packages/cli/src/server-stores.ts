import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Cli } from './cli.ts'
import { cliError } from './errors.ts'

/** Where a server keeps its data. */
export const storeOptions = {
  data: {
    kind: 'text',
    value: 'DIR',
    summary: "The server's directory; ~/.cairn/data unless given",
  },
  meta: { kind: 'text', value: 'URL', summary: 'Its database, if it has one: mysql://…' },
  objects: { kind: 'text', value: 'URL', summary: 'Its object store, if it has one: s3://…' },
} as const

export function placesOf(
  cli: Cli,
  { data, meta, objects }: Readonly<Partial<Record<keyof typeof storeOptions, string | undefined>>>,
): { readonly data: string; readonly meta?: string; readonly objects?: string } {
  return {
    data: data ?? join(cli.home, '.cairn', 'data'),
    ...(meta === undefined ? {} : { meta }),
    ...(objects === undefined ? {} : { objects }),
  }
}

/** The same for stores that must be there: a new one would be found in perfect order. */
export function existingPlacesOf(
  ...given: Parameters<typeof placesOf>
): ReturnType<typeof placesOf> {
  const places = placesOf(...given)
  const { data, meta, objects } = places
  if ((meta !== undefined && objects !== undefined) || existsSync(data)) return places
  throw cliError(
    'not_found',
    `open the stores in ${data}`,
    'there is no such directory',
    "Give the server's directory: --data DIR.",
  )
}
