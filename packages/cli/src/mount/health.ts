import { formatRescueOutcome } from '@cairn/protocol'
import {
  describeDirectories,
  findDaemonLog,
  type MountState,
  type OnlyHere,
} from '@cairn/mount/beside'
import { formatBytes, formatDuration } from '../output/format.ts'
import type { DaemonStatus } from './control.ts'
import { countOperations, describeSource } from './describe.ts'

export interface Health {
  readonly healthy: boolean
  readonly verdict: string
}

export function describeHealth(status: DaemonStatus): Health {
  const { connected, pendingOps, rescues, refused, waitingFor } = status
  const waiting =
    pendingOps === 0
      ? 'everything is at the server'
      : `${countOperations(pendingOps)} on the way to the server`
  if (refused !== undefined) {
    const kept = pendingOps === 0 ? waiting : `${countOperations(pendingOps)} kept in the cache`
    return { healthy: false, verdict: `the server takes nothing more: ${refused} (${kept})` }
  }
  if (!connected) return { healthy: false, verdict: `${silenceOf(status)}, ${waiting}` }
  if (waitingFor !== undefined)
    return { healthy: false, verdict: `it waits for ${waitingFor}; ${waiting}` }
  const isRescued = rescues.length > 0
  return {
    healthy: true,
    verdict: isRescued ? `${waiting}; late writes are told of above` : waiting,
  }
}

function silenceOf({ silentMs = 0 }: DaemonStatus): string {
  return `the server is away, nothing heard for ${formatDuration(silentMs / 1000)}`
}

function describeHere({ ops, bytes, ms }: OnlyHere): string {
  return `${countOperations(ops)}, ${formatBytes(bytes)}, the oldest for ${formatDuration(ms / 1000)}`
}

const standings: Readonly<Record<string, string>> = {
  lease: 'held: writes are answered here and sent at once',
  shared: 'shared with other writers: each write is answered by the server',
  waiting: 'not held: writes wait',
  over: 'none: the layer was committed or abandoned, and takes no more writes',
}

/** What a person wants to know, most of all first. */
export function statusRows(state: MountState, status: DaemonStatus): string[][] {
  const { mountPoint, readOnly, at, durability, server, directory, cacheDirectory, cacheBytes } =
    state
  const {
    connected,
    standing,
    pendingOps,
    pendingBytes,
    pendingMs,
    seq,
    errors,
    rescues,
    waitingFor,
  } = status
  const pending =
    pendingOps === 0
      ? 'nothing'
      : `${countOperations(pendingOps)}, ${formatBytes(pendingBytes)}, the oldest for ${formatDuration(pendingMs / 1000)}`
  const lastError = errors.at(-1)
  return [
    ['mount:', `${describeSource(state)} on ${mountPoint}${readOnly ? ', read-only' : ''}`],
    [
      'server:',
      `${server}, ${connected ? 'connected' : silenceOf(status)}${at === undefined ? `, log at ${seq}` : ''}`,
    ],
    ...(waitingFor === undefined ? [] : [['waiting for:', waitingFor]]),
    ...(at === undefined ? [] : [['checkpoint:', `${at}: the past, which does not move`]]),
    ['not yet at the server:', pending],
    ...Object.entries(status.onlyHere ?? {})
      .filter(([, { ops }]) => ops > 0)
      .map(([name, here]) => [`only here, ${name}:`, describeHere(here)]),
    ['lease:', readOnly ? 'none: read-only' : (standings[standing] ?? standing)],
    ...describeDirectories(status.directories).map((line, index) => [
      index === 0 ? 'directories:' : '',
      line,
    ]),
    ['durability:', durability],
    [
      'cache:',
      `${formatBytes(status.cacheBytes)} of ${formatBytes(cacheBytes)} in ${cacheDirectory}`,
    ],
    ['known:', `${status.knownInodes} files and directories`],
    ['processes:', `daemon ${status.pid}, supervisor ${status.supervisorPid}`],
    ['what they printed:', findDaemonLog(directory) ?? 'nothing'],
    ...rescues.map((rescue) => ['late writes:', formatRescueOutcome(rescue)]),
    ['last error:', lastError ?? 'none'],
  ]
}
