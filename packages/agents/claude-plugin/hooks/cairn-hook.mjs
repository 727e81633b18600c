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

/**
 * The workspace that the session is in, and that of the file when it is another one.
 * @param {Event} event
 */
function placesOf({ cwd, tool_input: { file_path, notebook_path } = {} }) {
  const file = file_path ?? notebook_path
  const directories = [cwd, ...(file === undefined ? [] : [dirname(resolve(cwd, file))])]
  const places = directories.map(findMount).filter((place) => place !== undefined)
  return new Map(places.map((place) => [`${place.workspace} ${place.branch}`, place])).values()
}

/** The checkpoint comes first: without it the call does not happen. @param {Event} event */
function beforeTool(event) {
  const call = event.tool_use_id
  for (const { workspace, branch } of placesOf(event))
    cairn('fs', 'layer', 'checkpoint', branch, '--workspace', workspace, '--tool-call', call)
  mark('begin', event)
}

/**
 * Claude runs tools that change files one at a time, so the changes of a mount meanwhile are those of the call. A mount of
 * another user cannot be told; the call goes on.
 * @param {'begin' | 'end'} moment
 * @param {Event} event
 */
function mark(moment, event) {
  try {
    for (const { directory } of placesOf(event))
      cairn('tool-call', moment, event.tool_use_id, directory)
  } catch (error) {
    const systemMessage = `The log of Cairn does not name this call: ${reasonOf(error)}`
    process.stdout.write(JSON.stringify({ systemMessage }))
  }
}

/** @param {unknown} error */
function reasonOf(error) {
  const { stderr, message } = /** @type {Error & { stderr?: string }} */ (error)
  return (stderr || message).trim()
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
  else if (event.hook_event_name.startsWith('PostToolUse')) mark('end', event)
  else if (event.hook_event_name === 'WorktreeCreate') createWorktree(event)
  else if (event.hook_event_name === 'WorktreeRemove') removeWorktree(event)
} catch (error) {
  process.stderr.write(`cairn: cannot do ${event.hook_event_name}: ${reasonOf(error)}\n`)
  process.exitCode = 2
}
