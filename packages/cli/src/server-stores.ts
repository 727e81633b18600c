import { join } from 'node:path'
import type { Cli } from './cli.ts'

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

interface StoreValues {
  readonly data?: string | undefined
  readonly meta?: string | undefined
  readonly objects?: string | undefined
}

/** Opens the stores of a server without running one, for as long as the work takes. */
export async function withStores<T>(
  cli: Cli,
  { data = join(cli.home, '.cairn', 'data'), meta, objects }: StoreValues,
  work: (storage: Awaited<ReturnType<typeof openStores>>) => Promise<T>,
): Promise<T> {
  const storage = await openStores({
    data,
    ...(meta === undefined ? {} : { meta }),
    ...(objects === undefined ? {} : { objects }),
  })
  try {
    return await work(storage)
  } finally {
    await storage.close()
  }
}

async function openStores(options: Parameters<OpenStorage>[0]): ReturnType<OpenStorage> {
  const { openStorage } = await import('@cairn/server')
  return openStorage(options)
}

type OpenStorage = typeof import('@cairn/server').openStorage
