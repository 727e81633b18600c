import { spawnSync } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** Where npm puts what it installs; our own notes about that live there too. */
export const modules = join(root, 'node_modules')

// First in the path, so that every tool runs on the pinned Node, whichever Node runs this file.
const path = [join(modules, '.bin'), process.env['PATH']].join(delimiter)
export const pinnedEnvironment = { ...process.env, PATH: path }

/**
 * Runs a command to its end, its output streamed to ours.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @returns {boolean} whether it succeeded
 */
export function run(command, args) {
  const env = pinnedEnvironment
  const { status, error } = spawnSync(command, args, { cwd: root, env, stdio: 'inherit' })
  if (error !== undefined) console.error(`cannot run ${command}: ${error.message}`)
  return status === 0
}
