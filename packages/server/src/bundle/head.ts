import type { BranchRecord, Checkpoint, Resolution, Snapshot } from '@cairn/core'
import type { BranchId } from '@cairn/protocol'
import { JsonShape } from '../files/json-shape.ts'
import type { CheckpointLabel, LayerRecord, Settings } from '../ports/layer-store.ts'
import { loopPacer } from '../ports/pacer.ts'
import { isFront, isLine } from './head-schema.ts'
import { malformed } from './records.ts'

/** What the rest of a bundle belongs to. */
export interface BundleHead {
  readonly workspace: {
    readonly id: string
    readonly name: string
    readonly createdAt: string
    /** Greater than all numbers of inodes in the bundle. */
    readonly nextIno: number
  }
  readonly exportedAt: string
  /** The end of the bundle that this one goes on from, in hexadecimal. */
  readonly since?: string | undefined
  /** Each as of its newest fold: the rows of its log end there. Parents come after their layers. */
  readonly branches: readonly BranchRecord[]
  readonly checkpoints: readonly Checkpoint[]
  readonly labels: readonly CheckpointLabel[]
  /** In the order in which they were made. */
  readonly layers: readonly LayerRecord[]
  readonly settings: readonly LayerSettings[]
}

interface LayerSettings {
  readonly layer: string
  readonly settings: Settings
}

interface Line {
  readonly branch?: Omit<BranchRecord, 'resolutions'>
  /** Belongs to the branch before it. */
  readonly resolution?: Resolution
  readonly checkpoint?: Checkpoint
  readonly label?: CheckpointLabel
  readonly layer?: LayerRecord
  readonly settings?: LayerSettings
}

/** A decision about a conflict may hold a file. */
const lineBytesMax = 16 << 20
const bytesAtOnce = 1 << 16
const lineFeed = 0x0a

/** Lines of JSON, so that a large head is neither written nor read in one turn of the event loop. */
export async function encodeHead(head: BundleHead): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  for (const line of linesOf(head)) {
    chunks.push(Buffer.from(`${JSON.stringify(line, withBase64)}\n`))
    if (loopPacer.isDue()) await loopPacer.rest()
  }
  return Buffer.concat(chunks)
}

function* linesOf({
  branches,
  checkpoints,
  labels,
  layers,
  settings,
  ...front
}: BundleHead): Generator<object> {
  yield front
  for (const { resolutions, ...branch } of branches) {
    yield { branch } satisfies Line
    for (const resolution of resolutions) yield { resolution } satisfies Line
  }
  for (const checkpoint of checkpoints) yield { checkpoint } satisfies Line
  for (const label of labels) yield { label } satisfies Line
  for (const layer of layers) yield { layer } satisfies Line
  for (const each of settings) yield { settings: each } satisfies Line
}

function withBase64(_: string, value: unknown): unknown {
  return value instanceof Uint8Array ? { base64: Buffer.from(value).toString('base64') } : value
}

export async function decodeHead(payload: Uint8Array): Promise<BundleHead> {
  try {
    return await readHead(payload)
  } catch (cause) {
    throw malformed('its head cannot be read', cause)
  }
}

async function readHead(payload: Uint8Array): Promise<BundleHead> {
  const lines = parseLines(payload)
  const { value: front } = await lines.next()
  if (!isFront(front)) throw new Error('its first line is not as it has to be')
  const branches: (Omit<BranchRecord, 'resolutions'> & { resolutions: Resolution[] })[] = []
  const [checkpoints, labels]: [Checkpoint[], CheckpointLabel[]] = [[], []]
  const [layers, settings]: [LayerRecord[], LayerSettings[]] = [[], []]
  for await (const line of lines) {
    if (!isLine(line)) throw new Error('a line is not as it has to be')
    const { branch, resolution, checkpoint, label, layer, settings: some } = line as Line
    if (branch) branches.push({ ...optionalFields, ...branch, resolutions: [] })
    if (resolution) branches.at(-1)!.resolutions.push(withBytesOf(resolution))
    if (checkpoint) checkpoints.push(checkpoint)
    if (label) labels.push(label)
    if (layer) layers.push(layer)
    if (some) settings.push(some)
  }
  const head = {
    ...(front as Pick<BundleHead, 'workspace' | 'exportedAt' | 'since'>),
    branches,
    checkpoints,
    labels,
    layers,
    settings,
  }
  requireOwn(head)
  return head
}

/** JSON leaves out what is undefined. */
const optionalFields = { parent: undefined, baseSeq: undefined }

function withBytesOf({ conflict, choice }: Resolution): Resolution {
  if (choice.type !== 'bytes') return { conflict, choice }
  const { base64 } = choice.bytes as unknown as { readonly base64: string }
  return {
    conflict,
    choice: { type: 'bytes', bytes: new Uint8Array(Buffer.from(base64, 'base64')) },
  }
}

async function* parseLines(payload: Uint8Array): AsyncGenerator<unknown> {
  for (let begin = 0; begin < payload.length;) {
    const found = payload.indexOf(lineFeed, begin)
    const end = found === -1 ? payload.length : found
    if (end - begin > lineBytesMax) throw new Error('a line is too long')
    const shape = new JsonShape()
    for (let at = begin; at < end; at += bytesAtOnce) {
      shape.add(payload.subarray(at, Math.min(at + bytesAtOnce, end)))
      if (loopPacer.isDue()) await loopPacer.rest()
    }
    yield JSON.parse(Buffer.from(payload.subarray(begin, end)).toString())
    begin = end + 1
  }
}

/** Branches are found, and collected, by the id of their workspace. */
function requireOwn({
  workspace: { id },
  branches,
  checkpoints,
  labels,
  layers,
}: BundleHead): void {
  const own = new Set(branches.map((branch) => branch.id))
  const areOwn = [...own].every((branch) => branch.startsWith(`${id}/`))
  if (!areOwn || !own.has(`${id}/main` as BranchId))
    throw new Error('a branch is of another workspace')
  for (const { branch } of [...checkpoints, ...labels, ...layers])
    if (!own.has(branch)) throw new Error(`there is no branch ${branch}`)
  for (const { workspace } of [...labels, ...layers])
    if (workspace !== id) throw new Error('a layer is of another workspace')
}

/** All trees that a bundle must have whole. */
export function snapshotsOf({ branches, checkpoints }: BundleHead): readonly Snapshot[] {
  return [
    ...branches.flatMap(({ base, firstBase, next, folded }) => [
      base,
      ...(firstBase === undefined ? [] : [{ ...base, root: firstBase }]),
      ...next.map((each) => each.base),
      folded.snapshot,
    ]),
    ...checkpoints.map(({ snapshot }) => snapshot),
  ]
}
