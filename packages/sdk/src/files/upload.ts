import type { ChangeReceipt, Upload } from '@cairn/protocol'
import type { Connection } from '../client/connection.ts'
import type { RequestOptions } from '../client/deadline.ts'
import { forEachParallel } from '../client/parallel.ts'
import { encodeSegment, type FilePath, showPath, spelled } from '../client/path.ts'
import { type ApiCall, jsonBody } from '../client/request.ts'
import { type ReadyContent, sizeOfReady, sliceReady, StreamCutter } from './content.ts'
import type { Location } from './location.ts'

export interface UploadProgress {
  /** Give it as `resumeId` to go on after a failure. The server keeps an unfinished upload for a day. */
  readonly uploadId: string
  /** Those at the server, from earlier attempts too. */
  readonly sentBytes: number
  /** Undefined as long as a stream has not ended. */
  readonly totalBytes: number | undefined
}

export interface WriteConditions {
  /** Permission bits: `0o644` or `'0644'`. */
  readonly mode?: number | string | undefined
  /** Sets these tags with the content; others stay. */
  readonly tags?: Readonly<Record<string, string>> | undefined
  /** Writes only when the file still has this etag; else `precondition_failed`. */
  readonly ifMatch?: string | undefined
  /** Writes only when nothing is there; else `precondition_failed`. */
  readonly ifAbsent?: boolean | undefined
  /** False: a missing parent directory is ENOENT. Otherwise parents are made. */
  readonly parents?: boolean | undefined
}

export interface UploadOptions extends RequestOptions, WriteConditions {
  readonly onProgress?: ((progress: UploadProgress) => void) | undefined
  /** Goes on with an upload of the same bytes: only missing blocks are sent. `not_found` once it has expired. */
  readonly resumeId?: string | undefined
}

/** So much is on its way at a time, and of a stream in memory; but not more than a browser's few connections each. */
const bytesInFlight = 16 << 20
const blocksInFlightMax = 16
const blocksInFlightMin = 4

/** Sends a file in blocks, then makes it of them. */
export async function uploadBlocks(
  connection: Connection,
  location: Location,
  path: FilePath,
  source: ReadyContent | StreamCutter,
  options: UploadOptions,
): Promise<ChangeReceipt> {
  const { signal, timeoutMs } = options
  const what = `upload ${showPath(path)}`
  const upload = await startUpload(connection, location, what, options)
  const query = { ...location.query, ...spelled('path', path) }
  const there = { base: location.base, query }
  const size = await sendBlocks(connection, there, upload, source, { ...options, what })
  const { mode, tags, ifMatch, ifAbsent, parents = true } = options
  const octal = mode === undefined ? undefined : formatMode(mode)
  return connection.json<ChangeReceipt>(
    {
      what,
      method: 'POST',
      path: `${location.base}/uploads/${encodeSegment(upload.id, what)}/complete`,
      query: location.query,
      ...jsonBody({
        ...spelled('path', path),
        size,
        mode: octal,
        tags,
        parents,
        ifMatch,
        ifAbsent,
      }),
    },
    { signal, timeoutMs },
  )
}

function startUpload(
  connection: Connection,
  { base, query }: Location,
  what: string,
  { resumeId, signal, timeoutMs }: UploadOptions,
): Promise<Upload> {
  const call: ApiCall =
    resumeId === undefined
      ? { what, method: 'POST', path: `${base}/uploads`, query }
      : { what, method: 'GET', path: `${base}/uploads/${encodeSegment(resumeId, what)}`, query }
  return connection.json<Upload>(call, { signal, timeoutMs })
}

/** Gives the number of bytes in all blocks. */
async function sendBlocks(
  connection: Connection,
  { base, query }: Location,
  upload: Upload,
  source: ReadyContent | StreamCutter,
  { what, signal, timeoutMs, onProgress }: UploadOptions & { readonly what: string },
): Promise<number> {
  const present = new Set(upload.blocks)
  const isCut = source instanceof StreamCutter
  let totalBytes = isCut ? undefined : sizeOfReady(source)
  let seenBytes = 0
  let sentBytes = 0
  const report = (): void => onProgress?.({ uploadId: upload.id, sentBytes, totalBytes })
  report()
  try {
    const blocks = cut(source, upload.blockBytes)
    await forEachParallel(blocks, inFlight(upload), async ({ number, bytes }, failing) => {
      seenBytes += sizeOfReady(bytes)
      if (!present.has(number)) {
        const path = `${base}/uploads/${encodeSegment(upload.id, what)}/blocks/${number}`
        const either = signal ? AbortSignal.any([signal, failing]) : failing
        const call = { what, method: 'PUT', path, query, body: bytes, repeatable: true } as const
        await connection.nothing(call, { signal: either, timeoutMs })
      }
      sentBytes += sizeOfReady(bytes)
      report()
    })
  } catch (error) {
    if (isCut) await source.cancel(error)
    throw error
  }
  totalBytes = seenBytes
  report()
  return seenBytes
}

function inFlight({ blockBytes }: Upload): number {
  const fitting = Math.floor(bytesInFlight / blockBytes)
  return Math.max(blocksInFlightMin, Math.min(fitting, blocksInFlightMax))
}

interface Block {
  readonly number: number
  readonly bytes: ReadyContent
}

async function* cut(
  source: ReadyContent | StreamCutter,
  blockBytes: number,
): AsyncGenerator<Block> {
  const take = (number: number): Promise<ReadyContent> | ReadyContent =>
    source instanceof StreamCutter
      ? source.take(blockBytes)
      : sliceReady(source, number * blockBytes, (number + 1) * blockBytes)
  for (let number = 0; ; number++) {
    const bytes = await take(number)
    const size = sizeOfReady(bytes)
    if (size > 0) yield { number, bytes }
    if (size < blockBytes) return
  }
}

/** `0o644`, `'644'` and `'0644'` are `'0644'`. */
export function formatMode(mode: number | string): string {
  return (typeof mode === 'number' ? mode.toString(8) : mode).padStart(4, '0')
}
