import { join } from 'node:path'
import { root } from '../run.mjs'

export const sessionFile = join(root, 'docs/images/session.svg')
export const sessionLabel =
  'A terminal: a server is started, a workspace mounted, a layer made, changed and committed.'

/**
 * A network, mounts and processes of its own: port 7070 is free there, and all of it ends with the session. The shell
 * stays the first process, because script(1) waits for whatever becomes its child.
 */
export const alone = 'unshare --mount --net --pid --fork --kill-child --mount-proc sh -c'
  .split(' ')
  .concat('ip link set lo up && "$@"; exit $?', 'sh')

/** @param {string} readme */
export function readmeSession(readme) {
  const block = /^```sh run\n([^]*?)^```/m.exec(readme)?.[1]
  if (block === undefined) throw new Error('the README has no block that begins with ```sh run')
  return block
}
