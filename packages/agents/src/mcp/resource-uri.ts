import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'

/** A file as MCP names it: `cairn://workspace/path?layer=…&at=…`. */
export interface ResourceAddress {
  readonly workspace: string
  readonly path: string
  readonly layer?: string | undefined
  readonly at?: string | undefined
}

export const resourceTemplate = 'cairn://{workspace}/{+path}{?layer,at}'

export function formatResource({ workspace, path, layer, at }: ResourceAddress): string {
  const names = path.split('/').map(encodeURIComponent).join('/')
  const query = Object.entries({ layer, at })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(value!)}`)
    .join('&')
  return `cairn://${encodeURIComponent(workspace)}${names}${query === '' ? '' : `?${query}`}`
}

export function parseResource(uri: string): ResourceAddress {
  const [, host, path = '/', query = ''] =
    /^cairn:\/\/([^/?#]+)(\/[^?#]*)?(?:\?([^#]*))?$/.exec(uri) ?? []
  try {
    if (host === undefined) throw new URIError('it does not begin with cairn://WORKSPACE/')
    const parameters = new URLSearchParams(query)
    return {
      workspace: decodeURIComponent(host),
      path: path.split('/').map(decodeURIComponent).join('/'),
      layer: parameters.get('layer') ?? undefined,
      at: parameters.get('at') ?? undefined,
    }
  } catch (error) {
    if (!(error instanceof URIError)) throw error
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `cannot open ${uri}: ${error.message}. Give cairn://WORKSPACE/PATH.`,
    )
  }
}
