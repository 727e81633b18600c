import { isCairnError, type LayerInfo, type Layers } from '@cairn/sdk'
import type { Cli } from '../cli.ts'
import { ChildEnded } from '../errors.ts'
import { type ExecWish, runInLayer } from '../exec/run-in-layer.ts'

export interface WarmStart {
  readonly layer: LayerInfo
  readonly key: string
  /** It was found, and the command did not run. */
  readonly isHit: boolean
  /** It has the newest state of what it was made from, too. */
  readonly isCurrent: boolean
}

export interface WarmWish {
  readonly key: string
  readonly path: string
  readonly name: string | undefined
  /** How the command runs where nothing is found. */
  readonly wish: ExecWish
}

/** Gives a layer in which the command has run with this key: by another client before, or now. */
export async function startWarm(cli: Cli, layers: Layers, wanted: WarmWish): Promise<WarmStart> {
  const { key, name } = wanted
  const found = await findWarm(cli, layers, key)
  const warm = found ?? (await makeWarm(cli, layers, wanted))
  const { signal } = cli
  // The warm layer is over, so its fork is another attempt at what it was made from, not an attempt at the layer.
  const layer = await layers.fork(warm.id, { name, at: labelOf(key), signal })
  return { layer, key, isHit: found !== undefined, isCurrent: await isRebased(cli, layers, layer) }
}

const labelOf = (key: string): string => `warm-${key}`

/** One whose command ended well. */
async function findWarm(cli: Cli, layers: Layers, key: string): Promise<LayerInfo | undefined> {
  const { signal } = cli
  for await (const layer of layers.list({ tag: `warm=${key}`, state: 'abandoned', signal }))
    for await (const { label } of layers.checkpoints(layer.id, { signal }))
      if (label === labelOf(key)) return layer
  return undefined
}

/** Two clients may do this at once: both are right, and the next one finds either. */
async function makeWarm(
  cli: Cli,
  layers: Layers,
  { key, path, wish }: WarmWish,
): Promise<LayerInfo> {
  const layer = await layers.create(path, { tags: { warm: key }, signal: cli.signal })
  const { exitCode } = await runInLayer(cli, layer, wish)
  if (exitCode === 0) await layers.checkpoint(layer.id, { label: labelOf(key) })
  await layers.abandon(layer.id)
  if (exitCode !== 0) throw new ChildEnded(exitCode)
  return layer
}

/** The state may have moved on since the command ran. A conflict is left for the one who works in the layer. */
async function isRebased(cli: Cli, layers: Layers, { id }: LayerInfo): Promise<boolean> {
  try {
    await layers.rebase(id, { signal: cli.signal })
    return true
  } catch (error) {
    if (isCairnError(error, 'layer_conflict')) return false
    throw error
  }
}
