import { createHash, randomBytes } from 'node:crypto'
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { FileContent } from '@cairn/sdk'

export interface SaveOptions {
  readonly mode: number
  readonly signal: AbortSignal
  readonly onBytes: (count: number) => void
}

/**
 * Writes beside the path and then renames: a concurrent reader sees the old file or the new one.
 */
export async function saveFile(
  path: Buffer,
  content: FileContent,
  options: SaveOptions,
): Promise<void> {
  const temporary = beside(path, `.cairn-${randomBytes(8).toString('hex')}.tmp`)
  try {
    await writeTo(await open(temporary, 'wx', 0o600), content, options)
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

/** What is there of a file that was not finished, kept under a name made of the file's and its etag. */
export interface Partial {
  readonly path: Buffer
  readonly bytes: number
}

export async function findPartial(path: Buffer, etag: string): Promise<Partial> {
  const hash = createHash('sha256').update(path).update('\0').update(etag).digest('hex')
  const partial = beside(path, `.cairn-${hash.slice(0, 16)}.part`)
  const bytes = await stat(partial).then(
    ({ size }) => size,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return 0
      throw error
    },
  )
  return { path: partial, bytes }
}

/** Goes on with a file that was begun; what is there stays there when it fails again. */
export async function resumeFile(
  path: Buffer,
  partial: Partial,
  content: FileContent,
  options: SaveOptions,
): Promise<void> {
  await writeTo(await open(partial.path, 'a', 0o600), content, options)
  await rename(partial.path, path)
}

async function writeTo(
  file: FileHandle,
  content: FileContent,
  { mode, signal, onBytes }: SaveOptions,
): Promise<void> {
  try {
    for await (const bytes of chunksOf(content)) {
      signal.throwIfAborted()
      await file.writeFile(bytes)
      onBytes(bytes.length)
    }
    await file.chmod(mode)
  } finally {
    await file.close()
  }
}

/** Straight into something that is no file: a terminal, a pipe, /dev/null. */
export async function pourInto(
  path: Buffer,
  content: FileContent,
  { signal, onBytes }: Omit<SaveOptions, 'mode'>,
): Promise<void> {
  const file = await open(path, 'w')
  try {
    for await (const bytes of chunksOf(content)) {
      signal.throwIfAborted()
      await file.writeFile(bytes)
      onBytes(bytes.length)
    }
  } finally {
    await file.close()
  }
}

async function* chunksOf(content: FileContent): AsyncGenerator<Uint8Array> {
  if (typeof content === 'string') yield Buffer.from(content)
  else if (content instanceof Uint8Array) yield content
  else yield* Readable.fromWeb((content instanceof Blob ? content.stream() : content) as never)
}

function beside(path: Buffer, name: string): Buffer {
  return Buffer.concat([path.subarray(0, path.lastIndexOf('/') + 1), Buffer.from(name)])
}
