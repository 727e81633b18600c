import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** Why no Debian can be made here; undefined if one can. */
export const whyNoDebian = findReason()

function findReason(): string | undefined {
  if (process.env['CAIRN_RUNS'] === undefined) return 'needs npm run test:soak'
  if (process.getuid?.() !== 0) return 'needs root'
  const hasTool = spawnSync('mmdebstrap', ['--version']).status === 0
  return hasTool ? undefined : 'needs mmdebstrap'
}
