import type { CheckpointInfo } from '@cairn/sdk'
import type { Cli } from '../cli.ts'
import { cliError } from '../errors.ts'
import type { Remote } from '../remote/open.ts'
import { packPrefix } from './pack.ts'

/** The pack with that label, or the newest of a branch. */
export async function findPack(
  cli: Cli,
  { workspace }: Remote,
  branch: string,
  wanted: string | undefined,
): Promise<CheckpointInfo> {
  let found: CheckpointInfo | undefined
  for await (const checkpoint of workspace.layers.checkpoints(branch, { signal: cli.signal })) {
    const { label, seq } = checkpoint
    const isMeant = wanted === undefined ? label.startsWith(packPrefix) : label === wanted
    if (isMeant && seq >= (found?.seq ?? 0)) found = checkpoint
  }
  if (found) return found
  throw cliError(
    'checkpoint_missing',
    'unpack',
    wanted === undefined ? `${branch} has no pack` : `${branch} has no pack ${wanted}`,
    'Make one with: cairn pack --mount DIR.',
  )
}
