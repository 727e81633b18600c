import type { Workspace } from '@cairn/sdk'
import { ToolError } from '../tool-error.ts'

/** Larger files are data: tools read parts of them and edit none. One edit of so much takes up to 20 ms. */
const editBytesMax = 2 << 20

export interface TextFile {
  readonly text: string
  /** Changes whenever the file does. */
  readonly version: string
}

/** A whole file to be edited: both halves of one version. */
export async function loadText(
  { files }: Workspace,
  path: string,
  signal: AbortSignal | undefined,
): Promise<TextFile> {
  const { size, etag, kind } = await files.stat(path, { signal })
  if (kind === 'file' && size > editBytesMax)
    throw new ToolError(
      `edit ${path}: it has ${size} bytes, and edits take up to ${editBytesMax}`,
      'Write a smaller file, or change it with a command in a sandbox.',
    )
  const bytes = await files.read(path, { ifMatch: etag, signal })
  return { text: decodeText(bytes, path), version: etag }
}

/** A byte-order mark stays, so that an edit changes nothing else. */
function decodeText(bytes: Uint8Array, path: string): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    if (!text.includes('\0')) return text
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
  }
  throw new ToolError(`edit ${path}: it is not UTF-8 text`, 'Replace the whole file with write.')
}
