import type { IncomingMessage } from 'node:http'
import { ApiError } from './api-error.ts'

export const envdPort = 49_983

/** Which sandbox, and which port of it, a request is for. */
export interface DataTarget {
  readonly sandboxId: string
  readonly port: number
}

/** Undefined: the request is for the server itself. */
export function targetOf({ headers }: IncomingMessage): DataTarget | undefined {
  const fromHost = /^(?<port>\d{1,5})-(?<id>[a-z0-9]+)\./.exec(headers.host ?? '')?.groups
  if (fromHost?.['id'] !== undefined)
    return { sandboxId: fromHost['id'], port: parsePort(fromHost['port']) }
  const id = headers['e2b-sandbox-id']
  const port = headers['e2b-sandbox-port']
  if (id === undefined && port === undefined) return undefined
  if (typeof id !== 'string' || !/^[a-z0-9]+(?:-[a-z0-9]+)?$/.test(id))
    throw new ApiError(400, 'the header e2b-sandbox-id names no sandbox')
  return { sandboxId: id, port: parsePort(port) }
}

function parsePort(text: string | string[] | undefined): number {
  const port = Number(text)
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port
  throw new ApiError(400, `'${String(text)}' is not a port`)
}
