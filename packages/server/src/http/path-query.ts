import { type ByteString, CairnError } from '@cairn/protocol'
import { bytesOfBase64, bytesOfText, checkPath } from './raw-path.ts'

/** A path in a query: `path`, or `pathBytes` in base64 where it is not UTF-8. */
export interface PathQuery {
  readonly path?: string
  readonly pathBytes?: string
}

export const pathQuery = {
  path: { type: 'string', description: 'a file, or a directory and what is below it' },
  pathBytes: { type: 'string', description: 'the same in base64, where it is not UTF-8' },
} as const

export function pathOfQuery({ path, pathBytes }: PathQuery): ByteString | undefined {
  if (pathBytes === undefined) return path === undefined ? undefined : checkPath(bytesOfText(path))
  const bytes = path === undefined ? bytesOfBase64(pathBytes) : undefined
  if (bytes !== undefined) return checkPath(bytes)
  throw new CairnError('invalid_argument', {
    what: 'read the path',
    reason: 'want path, or pathBytes in base64, and not both',
  })
}
