// A hook of Claude Code: reads an event from its standard input, and asks `cairn`. Needs no package, so that the folder
// can be copied anywhere. A status of 2 stops the call, and Claude reads why.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

/** @param {readonly string[]} args */
const cairn = (...args) =>
  execFileSync('cairn', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

/**
 * The workspace that a directory is in, as its mount tells.
 * @param {string} directory
 */
function findMount(directory) {
  for (let place = directory; ; place = dirname(place)) {
    try {
      const text = readFileSync(join(place, '.cairn/status'), 'utf8')
      const workspace = /^workspace: (.+)$/m.exec(text)?.[1]
      const branch = /^branch: (.+)$/m.exec(text)?.[1]
      if (workspace && branch) return { workspace, branch, directory: place }
    } catch {
      // There is none here: look above.
    }
    if (place === dirname(place)) return undefined
  }
}

/** @typedef {{ cwd: string, tool_use_id: string, name: string, worktree_path: string, tool_input?: { file_path?: string, notebook_path?: string } }} Event */

/** @param {Event} event */
function beforeTool({ cwd, tool_use_id: call, tool_input: { file_path, notebook_path } = {} }) {
  const file = file_path ?? notebook_path
  const places = [cwd, ...(file === undefined ? [] : [dirname(resolve(cwd, file))])].map(findMount)
  const seen = new Set()
  for (const place of places) {
    if (place === undefined || seen.has(place.workspace + place.branch)) continue
    seen.add(place.workspace + place.branch)
    const { workspace, branch } = place
    cairn('fs', 'layer', 'checkpoint', branch, '--workspace', workspace, '--tool-call', call)
  }
}

/** @param {Event} event */
function createWorktree({ cwd, name }) {
  const place = findMount(cwd)
  if (place === undefined) throw new Error(`${cwd} is in no mounted workspace`)
  const { workspace, branch } = place
  const parent = branch === 'main' ? [] : ['--parent', branch]
  const made = cairn('fs', 'layer', 'create', ':/', '--workspace', workspace, ...parent, '--json')
  const { id } = JSON.parse(made)
  const directory = join(homedir(), '.cairn/worktrees', id)
  cairn('mount', '--workspace', workspace, '--layer', id, ':/', directory)
  process.stderr.write(`cairn: worktree ${name} is layer ${id}\n`)
  process.stdout.write(`${directory}\n`)
}

/** The layer stays, to be committed or dropped. @param {Event} event */
function removeWorktree({ worktree_path: path }) {
  if (findMount(path)?.directory === path) cairn('umount', path)
}

const event = JSON.parse(readFileSync(0, 'utf8'))
try {
  if (event.hook_event_name === 'PreToolUse') beforeTool(event)
  else if (event.hook_event_name === 'WorktreeCreate') createWorktree(event)
  else if (event.hook_event_name === 'WorktreeRemove') removeWorktree(event)
} catch (error) {
  const { stderr, message } = /** @type {Error & { stderr?: string }} */ (error)
  process.stderr.write(`cairn: cannot do ${event.hook_event_name}: ${(stderr || message).trim()}\n`)
  process.exitCode = 2
}
