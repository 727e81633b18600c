import { statfsSync } from 'node:fs'
import type { MountStatus } from '../mount-status.ts'
import type { ServerLink } from '../session/link.ts'
import type { MountConfig } from './config.ts'

/** With less, a mount can neither write down its session nor begin a segment. */
const roomBytesMin = 64 << 10

/** How a mount is now: the server is asked if nothing was heard from it lately. */
export async function freshStatus(
  mount: { readonly status: MountStatus },
  link: ServerLink,
  config: MountConfig,
): Promise<MountStatus> {
  const isAnswering = await link.probe()
  const { status } = mount
  const connected = status.connected && isAnswering
  const waitingFor = whatIsMissing(connected, link, config)
  return { ...status, connected, silentMs: link.silentMs, ...(waitingFor && { waitingFor }) }
}

/** What a mount that is not usable yet says of itself. */
export function openingStatus(link: ServerLink, config: MountConfig): MountStatus {
  return {
    isOpening: true,
    waitingFor: whatIsMissing(false, link, config) ?? '',
    connected: false,
    silentMs: link.silentMs,
    standing: 'waiting',
    pendingOps: 0,
    pendingBytes: 0,
    pendingMs: 0,
    cacheBytes: 0,
    knownInodes: 0,
    seq: 0,
    errors: [],
    log: [],
    rescues: [],
  }
}

/** What keeps a mount from going on; undefined where nothing does. */
export function whatIsMissing(
  connected: boolean,
  link: ServerLink,
  { cacheDirectory, server }: MountConfig,
): string | undefined {
  const free = freeBytes(cacheDirectory)
  if (free !== undefined && free < roomBytesMin)
    return `room on the disk of ${cacheDirectory}: ${free} bytes are free`
  if (connected) return undefined
  const why = link.failure ?? `no answer for ${Math.round(link.silentMs / 1000)} s`
  return `the server ${server}: ${why}`
}

function freeBytes(directory: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(directory)
    return bavail * bsize
  } catch {
    // It is not there yet, or not any more.
    return undefined
  }
}
