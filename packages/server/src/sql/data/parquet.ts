import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import type * as hyparquet from 'hyparquet'
import { DataError, type DataRows } from './data-rows.ts'

type Hyparquet = typeof hyparquet

type Decompress = (bytes: Uint8Array, length: number) => Uint8Array

/** A page says how long it is; one that is longer is damaged, or wants all memory. */
function bounded(
  decompress: (bytes: Uint8Array, options: { maxOutputLength: number }) => Uint8Array,
): Decompress {
  return (bytes, length) => decompress(bytes, { maxOutputLength: Math.max(1, length) })
}

/** Snappy, the usual one, is in the package. */
const compressors = {
  GZIP: bounded(gunzipSync),
  ZSTD: bounded(zstdDecompressSync),
  BROTLI: bounded(brotliDecompressSync),
}

/** Reads one group of rows at a time. The package is optional, so `load` may fail. */
export async function readParquet(
  bytes: Uint8Array,
  load: () => Promise<Hyparquet> = () => import('hyparquet'),
): Promise<DataRows> {
  const { parquetMetadata, parquetReadObjects, parquetSchema } = await loaded(load)
  const { buffer, byteOffset, byteLength } = bytes
  const file = buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer
  const metadata = explained(() => parquetMetadata(file))
  const names = parquetSchema(metadata).children.map(({ element }) => element.name)
  return {
    columns: names.map((name) => ({ name })),
    async *rows() {
      let rowStart = 0
      for (const group of metadata.row_groups) {
        const rowEnd = rowStart + Number(group.num_rows)
        const options = { file, metadata, compressors, rowStart, rowEnd }
        const rows = await parquetReadObjects(options).catch(refuse)
        for (const row of rows) yield names.map((name) => row[name])
        rowStart = rowEnd
      }
    },
  }
}

async function loaded(load: () => Promise<Hyparquet>): Promise<Hyparquet> {
  try {
    return await load()
  } catch (cause) {
    throw new DataError(
      'the package hyparquet, which reads Parquet, is not installed at the server',
      {
        hint: 'Where the server is installed, run: npm install --global hyparquet@1',
        cause,
      },
    )
  }
}

function explained<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    return refuse(error)
  }
}

function refuse(error: unknown): never {
  throw new DataError((error as Error).message, { cause: error })
}
