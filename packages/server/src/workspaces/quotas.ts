import {
  type BatchBody,
  type Branch,
  findBase,
  type Limits,
  type Usage,
  usageOf,
} from '@cairn/core'
import type { BranchId, Quota } from '@cairn/protocol'
import type { OpenWorkspace } from './open-workspace.ts'
import { type LayerStore, listAll, type Settings } from '../ports/layer-store.ts'
import { atBarrier } from './barrier.ts'

/** How long what another server may change is believed. */
const knownMs = 500

interface Known {
  readonly workspace: Limits
  /** Beside the workspace's, what the layer's own quota and its base allow. */
  readonly layer: Limits
  /** Nothing is set of `main`: what is kept under its name is the workspace's. */
  readonly settings: Settings
  readonly untilMs: number
}

/**
 * How large the trees of a workspace may become. Its own quota holds for each of its trees, `main` and layers alike; a
 * layer's is what the layer may add to its base.
 */
export class Quotas {
  readonly #workspace: OpenWorkspace
  readonly #known = new Map<BranchId, Promise<Known>>()

  constructor(workspace: OpenWorkspace) {
    this.#workspace = workspace
  }

  /** Undefined where nothing limits it. With `fresh`, as the store has it at this moment. */
  async limitsOf(branch: Branch, fresh = false): Promise<Limits | undefined> {
    const { workspace, layer } = await this.#find(branch, fresh)
    return limited(least(workspace, layer))
  }

  /** A rebase brings what is the parent's: it is not what the layer adds. */
  async limitsFor(branch: Branch, body: BatchBody): Promise<Limits | undefined> {
    const { workspace, layer } = await this.#find(branch, false)
    const isRebase = body.type === 'root' && body.change.cause === 'rebase'
    return limited(isRebase ? workspace : least(workspace, layer))
  }

  /** What was set of a layer. */
  async settingsOf(branch: Branch): Promise<Settings> {
    return (await this.#find(branch, false)).settings
  }

  forget(branch: BranchId): void {
    this.#known.delete(branch)
  }

  async #find(branch: Branch, fresh: boolean): Promise<Known> {
    const { id } = branch
    const known = fresh ? undefined : await this.#known.get(id)
    if (known && known.untilMs > this.#workspace.clock.nowMs()) return known
    const found = this.#load(branch)
    this.#known.set(id, found)
    found.catch(() => this.#known.delete(id))
    return found
  }

  async #load(branch: Branch): Promise<Known> {
    const { layers, info, clock } = this.#workspace
    const untilMs = clock.nowMs() + knownMs
    const record = await layers.findByBranch(branch.id)
    const workspace = limitsBy(await layers.findSettings(info.id, 'main'))
    const settings = record ? await layers.findSettings(info.id, record.id) : {}
    const own = limited(limitsBy(settings))
    if (!own) return { workspace, layer: limitsBy({}), settings, untilMs }
    const base = await baseUsage(this.#workspace, branch)
    const layer = { bytes: base.bytes + own.bytes, files: base.files + own.files }
    return { workspace, layer, settings, untilMs }
  }
}

/** What a layer's own quota counts from. */
export async function baseUsage(
  { stores }: Pick<OpenWorkspace, 'stores'>,
  branch: Branch,
): Promise<Usage> {
  const { base } = await findBase(stores, branch)
  return stores.nodes.read(() => usageOf(stores.nodes, base))
}

function limitsBy({ maxBytes, maxFiles }: Settings): Limits {
  return { bytes: maxBytes ?? Infinity, files: maxFiles ?? Infinity }
}

function least(a: Limits, b: Limits): Limits {
  return { bytes: Math.min(a.bytes, b.bytes), files: Math.min(a.files, b.files) }
}

function limited(limits: Limits): Limits | undefined {
  return limits.bytes === Infinity && limits.files === Infinity ? undefined : limits
}

/** What is not named stays; null takes it away. */
export interface SettingsEdit {
  readonly maxBytes?: number | null | undefined
  readonly maxFiles?: number | null | undefined
  readonly autoCheckpointMs?: number | null | undefined
}

export function hasSettings({ maxBytes, maxFiles, autoCheckpointMs }: SettingsEdit): boolean {
  return [maxBytes, maxFiles, autoCheckpointMs].some((value) => value !== undefined)
}

/**
 * The lease holder knows how much room there is. It submits what it acknowledged by that, and
 * learns the new room with its next lease: so nothing that was acknowledged is refused.
 */
export async function changeSettings(
  workspace: OpenWorkspace,
  layer: string,
  edit: SettingsEdit,
): Promise<Settings> {
  const { layers, info } = workspace
  const settings = withEdit(await layers.findSettings(info.id, layer), edit)
  await layers.putSettings(info.id, layer, settings)
  const branches =
    layer === 'main' ? await liveBranches(workspace) : [await branchOf(workspace, layer)]
  for (const branch of branches) workspace.quotas.forget(branch)
  const held = await Promise.all(branches.map((branch) => workspace.isHeld(branch)))
  await Promise.all(
    branches
      .filter((_, index) => held[index])
      .map(async (id) => atBarrier(workspace, await workspace.openBranch(id), async () => {})),
  )
  return settings
}

function withEdit(before: Settings, edit: SettingsEdit): Settings {
  const named = Object.entries(edit).filter(([, value]) => value !== undefined)
  const after = Object.entries({ ...before, ...Object.fromEntries(named) })
  return Object.fromEntries(after.filter(([, value]) => value !== null)) as Settings
}

async function liveBranches(workspace: OpenWorkspace): Promise<readonly BranchId[]> {
  const { layers, info } = workspace
  const live = (
    await Promise.all(
      (['open', 'conflicted'] as const).map((state) => listAll(layers, info.id, { state })),
    )
  ).flat()
  return [(await workspace.branch('main')).id, ...live.map(({ branch }) => branch)]
}

async function branchOf(
  { layers, info }: Pick<OpenWorkspace, 'layers' | 'info'>,
  layer: string,
): Promise<BranchId> {
  return (await layers.find(info.id, layer))!.branch
}

/** As JSON tells it; absent where nothing is limited. */
export function describeQuota({ maxBytes, maxFiles }: Settings): { readonly quota?: Quota } {
  if (maxBytes === undefined && maxFiles === undefined) return {}
  return {
    quota: {
      ...(maxBytes === undefined ? {} : { maxBytes }),
      ...(maxFiles === undefined ? {} : { maxFiles }),
    },
  }
}

export async function quotaOf(
  layers: LayerStore,
  workspace: string,
): Promise<{ readonly quota?: Quota }> {
  return describeQuota(await layers.findSettings(workspace, 'main'))
}
