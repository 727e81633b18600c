import { findBase } from '@cairn/core'
import { type ByteQueue, CairnError, isCairnError } from '@cairn/protocol'
import { createLayer, deleteLayer } from '../layers/layers.ts'
import { findScopedLayer, requireUnbound } from '../layers/scoped-layers.ts'
import { commitUnseen } from '../merging/commit-and-rebase.ts'
import { findRealLayer } from '../points/references.ts'
import type { OpenWorkspace } from '../workspaces/open-workspace.ts'
import type { Asker } from '../workspaces/path-changes.ts'
import { applyPush } from './apply-push.ts'
import type { ExportedRef, ExportedRepository } from './exported-repository.ts'
import { IncomingObjects } from './incoming-objects.ts'
import { flush, pktLine, readLines, sideBand } from './pkt-lines.ts'
import { pathForLayer } from './path-for-layer.ts'
import { isPushable } from './ref-names.ts'
import { diffTrees, mergeChanges } from './tree-changes.ts'
import type { Viewer } from './viewer.ts'

export const pushCapabilities =
  'report-status delete-refs side-band-64k ofs-delta object-format=sha1'
const attemptPrefix = 'refs/heads/attempts/'
const mainRef = 'refs/heads/main'
const noOid = '0'.repeat(40)
const pathsShown = 5

interface Command {
  readonly old: string
  readonly oid: string
  readonly ref: string
}

interface Outcome {
  readonly ref: string
  /** Why it was refused. */
  readonly refused?: string | undefined
  /** What the user is told. */
  readonly told?: string | undefined
}

export interface Push {
  readonly workspace: OpenWorkspace
  readonly asker: Asker
  readonly repository: ExportedRepository
  /** Runs when no other export or push of the repository does, after an export. */
  readonly alone: (work: (viewer: Viewer) => Promise<void>) => Promise<void>
}

interface Taking extends Pick<Push, 'workspace' | 'asker' | 'repository'> {
  readonly viewer: Viewer
  readonly objects: IncomingObjects
}

/** Takes a push in: each ref becomes a layer, or goes into the one it names. Gives git's answer. */
export async function receivePush(push: Push, queue: ByteQueue): Promise<Uint8Array> {
  const lines = await readLines(queue)
  if (lines.length === 0) return Buffer.alloc(0)
  const [first = '', capabilities = ''] = lines[0]!.toString().split('\0')
  const commands = [first, ...lines.slice(1).map(String)].map(parseCommand)
  const objects = new IncomingObjects(push.repository.path)
  try {
    const hasBand = capabilities.includes('side-band-64k')
    const damage = commands.some(({ oid }) => oid !== noOid)
      ? await unpack(objects, restOf(queue))
      : undefined
    if (damage !== undefined) {
      const refused = 'the objects were not taken'
      return answerOf(
        damage,
        commands.map(({ ref }) => ({ ref, refused })),
        hasBand,
      )
    }
    const outcomes: Outcome[] = []
    await push.alone(async (viewer) => {
      for (const command of commands)
        outcomes.push(await judge({ ...push, viewer, objects }, command))
    })
    return answerOf('ok', outcomes, hasBand)
  } finally {
    await objects.drop()
  }
}

function parseCommand(line: string): Command {
  const match = /^([0-9a-f]{40}) ([0-9a-f]{40}) (refs\/\S+)\n?$/.exec(line)
  if (match) return { old: match[1]!, oid: match[2]!, ref: match[3]! }
  throw new CairnError('malformed', { what: 'read what git sent', reason: 'a command is damaged' })
}

/** Gives what is wrong with them. */
async function unpack(
  objects: IncomingObjects,
  pack: AsyncIterable<Uint8Array>,
): Promise<string | undefined> {
  try {
    await objects.unpack(pack)
    return undefined
  } catch (error) {
    if (isCairnError(error, 'internal') || isCairnError(error, 'too_large'))
      return oneLine(error.reason)
    throw error
  }
}

async function* restOf(queue: ByteQueue): AsyncGenerator<Uint8Array> {
  for (;;) {
    const bytes = await queue.take(1 << 16)
    if (bytes.length === 0) return
    yield bytes
  }
}

async function judge(taking: Taking, command: Command): Promise<Outcome> {
  const { ref } = command
  try {
    return { ref, told: await take(taking, command) }
  } catch (error) {
    if (!isCairnError(error)) throw error
    const { conflicts, reason, hint } = error
    const paths = conflicts?.map(({ path }) => path)
    const why = paths ? `conflict: ${shown(paths)}` : reason
    return { ref, refused: why, told: paths ? undefined : hint }
  }
}

/** Gives what the user is told. */
async function take(taking: Taking, { old, oid, ref }: Command): Promise<string> {
  const { workspace, repository, viewer, objects } = taking
  const name = ref.startsWith(attemptPrefix) ? ref.slice(attemptPrefix.length) : undefined
  if (name === undefined)
    throw refusal(
      'a push goes into a layer',
      `Push to ${attemptPrefix}NAME, as: git push origin HEAD:attempts/NAME.`,
    )
  if (!isPushable(name))
    throw refusal(
      'no layer can have that name',
      'Use up to 128 letters, digits, dots, underscores and hyphens, without .. and .lock at the end.',
    )
  if (oid === noOid) throw refusal('a push deletes no layer', `Use: cairn fs layer rm ${name}.`)
  const refs = await repository.refs()
  const there = refs.get(ref)
  if ((there?.commit ?? noOid) !== old)
    throw refusal('fetch first', 'Fetch, rebase, and push again.')
  await objects.ask(
    ['rev-list', '--objects', '--quiet', oid, '--not', '--all'],
    'find all that was pushed',
  )
  const layer = there
    ? await intoLayer(taking, { name, from: there, oid })
    : await intoNewLayer(taking, { name, main: refs.get(mainRef), oid })
  const { branch } = await findRealLayer(workspace, layer, 'push to')
  const { snapshot, seq } = await branch.fold()
  await objects.keep()
  await repository.adopt(ref, { commit: oid, root: await viewer.rootOf(snapshot), seq })
  return there
    ? `into layer ${name}`
    : `layer ${name} is new; commit it with: cairn fs layer commit ${name}`
}

/** On top of what main is now. */
async function intoNewLayer(
  taking: Taking,
  {
    name,
    main,
    oid,
  }: { readonly name: string; readonly main: ExportedRef | undefined; readonly oid: string },
): Promise<string> {
  const { workspace, asker, objects } = taking
  if (asker.scope) requireUnbound(asker.scope)
  const from = main && (await findCommonCommit(objects, main.commit, oid))
  if (from === undefined)
    throw refusal(
      'its history does not come from this workspace',
      'Clone the workspace and commit on top of that.',
    )
  const own = await diffTrees(objects, from, oid)
  const { left, conflicts } = await mergeChanges(own, await diffTrees(objects, from, main!.commit))
  if (conflicts.length > 0)
    throw refusal(
      `conflict: ${shown(conflicts)}`,
      'Fetch, rebase onto origin/main, and push again.',
    )
  const message = (await objects.ask(['log', '-1', '--format=%<(2000,trunc)%s', oid]))
    .toString()
    .trim()
  const path = asker.scope ? pathForLayer(asker.scope, left) : undefined
  const layer = await createLayer(workspace, asker, { parent: 'main', name, message, path })
  return filled(taking, layer.id, main!, async (branch) =>
    applyPush({ workspace, branch, asker }, objects, left),
  )
}

/** Through a layer of its own, because another client may write to this one. */
async function intoLayer(
  taking: Taking,
  { name, from, oid }: { readonly name: string; readonly from: ExportedRef; readonly oid: string },
): Promise<string> {
  const { workspace, asker, objects } = taking
  const isNewer = await findCommonCommit(objects, from.commit, oid)
  if (isNewer !== from.commit) throw refusal('fetch first', 'Fetch, rebase, and push again.')
  const { scope } = asker
  const { id } = await (scope
    ? findScopedLayer(workspace, scope, name)
    : findRealLayer(workspace, name, 'push to'))
  const message = `push to ${name}`
  const stage = await createLayer(workspace, asker, { parent: id, message }, 'import')
  await filled(taking, stage.id, from, async (branch) => {
    await applyPush(
      { workspace, branch, asker },
      objects,
      await diffTrees(objects, from.commit, oid),
    )
    await commitUnseen(workspace, asker, stage.id, {
      message,
      mergeText: false,
      checkpoint: undefined,
    })
  })
  return id
}

/** Deletes the layer again if the work fails, or if it does not stand on what git was compared with. */
async function filled(
  { workspace, asker: { actor }, viewer }: Taking,
  id: string,
  { root }: ExportedRef,
  work: (branch: Awaited<ReturnType<OpenWorkspace['openBranch']>>) => Promise<void>,
): Promise<string> {
  try {
    const { branch } = await findRealLayer(workspace, id, 'push to')
    const { base } = await findBase(workspace.stores, branch)
    if ((await viewer.rootOf(base)) !== root)
      throw refusal('the workspace changed meanwhile', 'Push again.')
    await work(branch)
    return id
  } catch (error) {
    // Also where the client has gone, or its token has ended.
    const asker = { actor, idempotencyKey: undefined }
    await deleteLayer(workspace, asker, id, false).catch(() => {})
    throw error
  }
}

async function findCommonCommit(
  objects: IncomingObjects,
  one: string,
  other: string,
): Promise<string | undefined> {
  // It ends with 1 where there is none.
  const output = await objects.ask(['merge-base', one, other]).catch(() => undefined)
  return output?.toString().trim()
}

function shown(paths: readonly string[]): string {
  const more = paths.length - pathsShown
  const first = paths.slice(0, pathsShown).join(', ')
  return more > 0 ? `${first} and ${more} more` : first
}

function refusal(reason: string, hint: string): CairnError {
  return new CairnError('invalid_argument', { what: 'push', reason, hint })
}

function answerOf(unpack: string, outcomes: readonly Outcome[], hasSideBand: boolean): Uint8Array {
  const report = Buffer.concat([
    pktLine(`unpack ${unpack}\n`),
    ...outcomes.map(({ ref, refused }) =>
      pktLine(refused === undefined ? `ok ${ref}\n` : `ng ${ref} ${oneLine(refused)}\n`),
    ),
    flush,
  ])
  if (!hasSideBand) return report
  const told = outcomes.flatMap((one) => (one.told === undefined ? [] : [`${oneLine(one.told)}\n`]))
  return Buffer.concat([sideBand(2, Buffer.from(told.join(''))), sideBand(1, report), flush])
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ')
}
