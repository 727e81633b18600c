import { mkdtemp, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hashText } from '../hash-text.ts'
import { type CairnCommand, mountLayer, open, runCairn } from './cairn-command.ts'
import { findLayer } from '../find-layer.ts'

export interface SessionLayerOptions extends CairnCommand {
  readonly workspace: string
}

/**
 * Mounts the layer of a session, which is made if it is not there, and gives its directory to `work`. Afterwards everything is
 * at the server. Made for workers of Claude Managed Agents: each session goes on in its own layer, on whichever machine.
 *
 * @example
 * ```ts
 * await withSessionLayer({ workspace: 'site' }, process.env.ANTHROPIC_SESSION_ID!, (workdir) =>
 *   new Anthropic().beta.environments.work.worker({ workdir }).handleItem(),
 * )
 * ```
 */
export async function withSessionLayer<Result>(
  options: SessionLayerOptions,
  sessionId: string,
  work: (workdir: string) => Promise<Result>,
): Promise<Result> {
  const { layers } = open(options, options.workspace)
  const name = `claude-session-${hashText(sessionId)}`
  const { id } = (await findLayer(layers, name)) ?? (await layers.create('/', { name }))
  const workdir = await mkdtemp(join(tmpdir(), 'cairn-session-'))
  await mountLayer(options, options.workspace, id, workdir)
  try {
    return await work(workdir)
  } finally {
    await runCairn(options, ['umount', workdir])
    await rmdir(workdir)
  }
}
