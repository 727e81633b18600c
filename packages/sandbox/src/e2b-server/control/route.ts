import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Bases } from '../../bases/bases.ts'
import type { Catalog } from '../templates/catalog.ts'
import type { Builder } from '../templates/builder.ts'
import type { Disks } from '../sandboxes/disks.ts'
import type { SandboxLogs } from '../logs/sandbox-logs.ts'
import type { Sandboxes } from '../sandboxes/sandboxes.ts'
import type { Volumes } from '../volumes/volumes.ts'

/** What the routes work on. */
export interface Control {
  readonly sandboxes: Sandboxes
  readonly catalog: Catalog
  readonly builder: Builder
  readonly disks: Disks
  readonly bases: Bases
  readonly volumes: Volumes
  readonly logs: SandboxLogs
  /** What a sandbox can write to its own disk. */
  readonly diskSizeMB: number
  /** What user ports are below: `<port>-<id>.<domain>`. */
  readonly domain: string
  /** Where this server is reached. */
  readonly url: string
}

export interface ControlRequest {
  readonly control: Control
  /** What stood for the names in braces, decoded. */
  readonly params: Readonly<Record<string, string>>
  readonly url: URL
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

export type Handler = (request: ControlRequest) => Promise<void> | void

/** `POST /sandboxes/{id}/pause`; a `/v2` before it makes no difference unless it is a route of its own. */
export type ControlRoutes = Readonly<Record<string, Handler>>

export interface Match {
  readonly handler: Handler
  readonly params: Readonly<Record<string, string>>
}

export function matchRoute(
  routes: ControlRoutes,
  method: string,
  pathname: string,
): Match | undefined {
  const segments = pathname.split('/')
  for (const [route, handler] of Object.entries(routes)) {
    const [wantedMethod, pattern = ''] = route.split(' ')
    if (wantedMethod !== method) continue
    const params = matchSegments(pattern.split('/'), segments)
    if (params !== undefined) return { handler, params }
  }
  return undefined
}

function matchSegments(
  pattern: readonly string[],
  segments: readonly string[],
): Record<string, string> | undefined {
  if (pattern.length !== segments.length) return undefined
  const params: Record<string, string> = {}
  for (const [index, part] of pattern.entries()) {
    const segment = segments[index] ?? ''
    if (part.startsWith('{')) params[part.slice(1, -1)] = decodeURIComponent(segment)
    else if (part !== segment) return undefined
  }
  return params
}
