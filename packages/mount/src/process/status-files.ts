import type { RescueOutcome } from '@cairn/protocol'
import { describeDirectories } from '../describe-directories.ts'
import type { StatusFiles } from '../filesystem/status-directory.ts'
import type { Mount } from '../mount.ts'
import type { MountStatus } from '../mount-status.ts'
import type { ServerLink } from '../session/link.ts'
import type { ConflictAnswer } from '../session/answers.ts'
import type { MountConfig } from './config.ts'
import { freshStatus } from './fresh-status.ts'

/** What `.cairn/` says, for an agent that can read files and nothing else. */
export function statusFiles(mount: Mount, config: MountConfig, link: ServerLink): StatusFiles {
  return {
    status: async () => describeStatus(await freshStatus(mount, link, config), config),
    conflicts: () => describeConflicts(mount, config),
    log: () =>
      lines(mount.status.log, 'no other client has changed anything since this mount began'),
    errors: () => lines(mount.status.errors, 'no errors'),
  }
}

function describeStatus(status: MountStatus, config: MountConfig): string {
  const {
    refused,
    connected,
    silentMs = 0,
    waitingFor,
    standing,
    pendingOps,
    pendingBytes,
    pendingMs,
    cacheBytes,
    knownInodes,
    seq,
  } = status
  const pending =
    pendingOps === 0
      ? 'nothing: everything is at the server'
      : `${pendingOps} operations, ${pendingBytes} bytes, the oldest ${pendingMs} ms old`
  return lines([
    `workspace: ${config.workspace}`,
    ...(config.branch === '' ? [] : [`branch: ${config.branch}`]),
    ...(config.at === undefined ? [] : [`checkpoint: ${config.at}, read-only`]),
    `connected: ${connected ? 'yes' : `no, nothing heard for ${Math.round(silentMs / 1000)} s`}`,
    ...(waitingFor === undefined ? [] : [`waiting for: ${waitingFor}`]),
    ...(refused === undefined ? [] : [`refused: ${refused}`]),
    `lease: ${standing}`,
    ...describeDirectories(status.directories).map((line, index) =>
      index === 0 ? `directories: ${line}` : `  ${line}`,
    ),
    `durability: ${config.durability}`,
    `not yet at the server: ${pending}`,
    ...Object.entries(status.onlyHere ?? {})
      .filter(([, { ops }]) => ops > 0)
      .map(([name, { ops, bytes }]) => `only here, ${name}: ${ops} operations, ${bytes} bytes`),
    `cache: ${cacheBytes} bytes, ${knownInodes} inodes`,
    `log: ${seq}`,
  ])
}

/** A program reads it and waits: a server that does not answer must not block it. */
const answerMs = 5000

async function describeConflicts(mount: Mount, { branch, at }: MountConfig): Promise<string> {
  const rescued = mount.status.rescues.map(describeRescue)
  if (branch === 'main' || at !== undefined) return lines(rescued, 'no conflicts')
  const silence = new Promise<undefined>((resolve) =>
    setTimeout(() => resolve(undefined), answerMs).unref(),
  )
  const found = await Promise.race([mount.conflicts().catch(() => undefined), silence])
  return lines([...rescued, ...describeMet(found, branch)], 'no conflicts')
}

function describeMet(
  found: readonly ConflictAnswer[] | undefined,
  layer: string,
): readonly string[] {
  if (!found) return ['no server says whether the layer conflicts with its parent']
  if (found.length === 0) return []
  return [
    `a commit of ${layer} would meet:`,
    ...found.map(({ kind, path }) => `  ${kind} ${path}`),
    `decide each: cairn fs layer resolve ${layer} PATH --ours | --theirs | --with FILE`,
  ]
}

function describeRescue({ result, layer }: RescueOutcome): string {
  return result === 'committed'
    ? `late writes were committed: ${layer}`
    : `late writes conflict and are kept in layer ${layer}: cairn fs layer diff '${layer}'`
}

function lines(all: readonly string[], none = ''): string {
  return `${all.length > 0 ? all.join('\n') : none}\n`
}
