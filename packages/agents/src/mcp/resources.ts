import {
  type ListResourcesResult,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { explainFailure } from '../tool-error.ts'
import { formatResource, parseResource } from './resource-uri.ts'
import type { McpSite } from './site.ts'

/** More is for the tool `read`, which gives parts. */
const bytesMax = 1 << 20
const pageEntries = 200
/** A checkpoint does not change, only its label may be given anew. */
const pastTtlMs = 3_600_000

/** The files of the default workspace, page by page. */
export async function listResources(
  site: McpSite,
  cursor: string | undefined,
  { mcpReq: { signal } }: ServerContext,
): Promise<ListResourcesResult> {
  const { workspace, layer } = site
  if (workspace === undefined) return { resources: [] }
  return explained(async () => {
    const { files } = site.connect().workspace(workspace, { layer })
    const options = { recursive: true, limit: pageEntries, cursor, signal }
    const { items, next } = await files.listPage('/', options)
    const resources = items
      .filter(({ kind }) => kind === 'file')
      .map(({ path, name, size }) => ({
        uri: formatResource({ workspace, path, layer }),
        name,
        size,
      }))
    return { resources, ...(next === undefined ? {} : { nextCursor: next }) }
  })
}

export async function readResource(
  site: McpSite,
  uri: string,
  { mcpReq: { signal } }: ServerContext,
): Promise<ReadResourceResult> {
  const { workspace, path, layer, at } = parseResource(uri)
  return explained(async () => {
    const { files } = site.connect().workspace(workspace, { layer, at })
    const { size, etag, kind } = await files.stat(path, { signal })
    if (kind === 'file' && size > bytesMax)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `cannot read ${uri}: it has ${size} bytes, and a resource has at most ${bytesMax}. Use the tool read.`,
      )
    const bytes = await files.read(path, { ifMatch: etag, signal })
    const content = decode(bytes)
    return {
      contents: [{ uri, ...content }],
      ttlMs: at === undefined ? 0 : pastTtlMs,
      cacheScope: 'private',
    }
  })
}

function decode(bytes: Uint8Array): { text: string } | { blob: string; mimeType: string } {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return { blob: Buffer.from(bytes).toString('base64'), mimeType: 'application/octet-stream' }
  }
}

async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const text = explainFailure(error)
    if (text === undefined) throw error
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, text)
  }
}
