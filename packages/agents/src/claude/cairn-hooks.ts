import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { type CairnCommand, mountLayer, open, runCairn } from './cairn-command.ts'
import { findMount, type MountPlace } from './find-mount.ts'

export { cairnSessionStore, type ClaudeSessionStore } from './session-store.ts'
export { type ClaudeProcess, type ClaudeSpawnOptions, spawnIn } from './spawn.ts'
export { type SessionLayerOptions, withSessionLayer } from './session-layer.ts'

/** The part of an event of the Claude Agent SDK that is used here. */
export interface ClaudeEvent {
  readonly hook_event_name: string
  readonly cwd: string
}

export interface ClaudeHookAnswer {
  /** For the user. */
  systemMessage?: string
  hookSpecificOutput?:
    | {
        hookEventName: 'PreToolUse'
        permissionDecision: 'deny'
        permissionDecisionReason: string
      }
    | { hookEventName: 'WorktreeCreate'; worktreePath: string }
}

export interface ClaudeHookMatcher {
  matcher?: string
  hooks: ((event: ClaudeEvent) => Promise<ClaudeHookAnswer>)[]
}

export interface CairnHooksOptions extends CairnCommand {
  /** The tools that change files. Default: those that Claude Code has. */
  readonly matcher?: string
  /** Where the layers of worktrees are mounted. Default: `~/.cairn/worktrees`. */
  readonly worktrees?: string
}

export interface CairnHooks {
  /** For `options.hooks` of `query`. */
  readonly hooks: {
    PreToolUse: ClaudeHookMatcher[]
    PostToolUse: ClaudeHookMatcher[]
    PostToolUseFailure: ClaudeHookMatcher[]
    WorktreeCreate: ClaudeHookMatcher[]
    WorktreeRemove: ClaudeHookMatcher[]
  }
  /** Brings all files of the workspace at `directory` back to how they were before that call, whatever changed them since. */
  readonly rewind: (toolUseId: string, directory: string) => Promise<void>
}

const mutating = 'Write|Edit|MultiEdit|NotebookEdit|Bash'

/**
 * Hooks for the Claude Agent SDK, for sessions whose directory is a mounted workspace. A call of a tool that changes files
 * happens only after a checkpoint, the log names it for what changes in the workspace meanwhile, and a worktree is a layer.
 *
 * @example
 * ```ts
 * const { hooks, rewind } = cairnHooks()
 * for await (const message of query({ prompt, options: { cwd: '/srv/site', hooks } })) show(message)
 * await rewind(toolUseId, '/srv/site')
 * ```
 */
export function cairnHooks(options: CairnHooksOptions = {}): CairnHooks {
  const on = (
    answer: (event: ClaudeEvent) => Promise<ClaudeHookAnswer>,
    matcher?: string,
  ): ClaudeHookMatcher[] => [{ ...(matcher !== undefined && { matcher }), hooks: [answer] }]
  const matcher = options.matcher ?? mutating
  return {
    hooks: {
      PreToolUse: on((event) => beforeTool(options, event), matcher),
      PostToolUse: on((event) => mark(options, 'end', event as ToolEvent), matcher),
      PostToolUseFailure: on((event) => mark(options, 'end', event as ToolEvent), matcher),
      WorktreeCreate: on((event) => createWorktree(options, event)),
      WorktreeRemove: on((event) => removeWorktree(options, event)),
    },
    rewind: async (toolUseId, directory) => {
      const { workspace, branch } = await mountOf(directory)
      const { layers } = open(options, workspace)
      await layers.rollback(branch, { beforeToolCall: toolUseId })
    },
  }
}

interface ToolEvent extends ClaudeEvent {
  readonly tool_use_id: string
  readonly tool_input?: unknown
}

/** A checkpoint that cannot be made stops the call: afterwards it would be too late. */
async function beforeTool(
  options: CairnHooksOptions,
  event: ClaudeEvent,
): Promise<ClaudeHookAnswer> {
  const { tool_use_id: toolCall } = event as ToolEvent
  try {
    for (const { workspace, branch } of await placesOf(event as ToolEvent))
      await open(options, workspace).layers.checkpoint(branch, { toolCall })
    return await mark(options, 'begin', event as ToolEvent)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return {
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason: `cannot make a checkpoint before the call: ${why}`,
      },
    }
  }
}

/**
 * Claude runs tools that change files one at a time, so the changes of a mount meanwhile are those of the call. A mount of
 * another user cannot be told; the call goes on.
 */
async function mark(
  options: CairnHooksOptions,
  moment: 'begin' | 'end',
  event: ToolEvent,
): Promise<ClaudeHookAnswer> {
  try {
    for (const { directory } of await placesOf(event))
      await runCairn(options, ['tool-call', moment, event.tool_use_id, directory])
    return {}
  } catch (error) {
    const { stderr, message } = error as Error & { readonly stderr?: string }
    return {
      systemMessage: `The log of Cairn does not name this call: ${(stderr || message).trim()}`,
    }
  }
}

/** The workspace that the session is in, and that of the file when it is another one. */
async function placesOf({ cwd, tool_input: input }: ToolEvent): Promise<readonly MountPlace[]> {
  const { file_path, notebook_path } = (input ?? {}) as Record<string, unknown>
  const file = file_path ?? notebook_path
  const directories = typeof file === 'string' ? [cwd, dirname(resolve(cwd, file))] : [cwd]
  const places = new Map<string, MountPlace>()
  for (const directory of directories) {
    const place = await findMount(directory)
    if (place !== undefined) places.set(`${place.workspace}\0${place.branch}`, place)
  }
  return [...places.values()]
}

async function createWorktree(
  options: CairnHooksOptions,
  event: ClaudeEvent,
): Promise<ClaudeHookAnswer> {
  const { name } = event as { readonly name?: string } & ClaudeEvent
  const { workspace, branch } = await mountOf(event.cwd)
  const parent = branch === 'main' ? {} : { parent: branch }
  const layer = await open(options, workspace).layers.create('/', {
    ...parent,
    tags: { worktree: String(name) },
  })
  const worktreePath = join(options.worktrees ?? join(homedir(), '.cairn/worktrees'), layer.id)
  await mountLayer(options, workspace, layer.id, worktreePath)
  return { hookSpecificOutput: { hookEventName: 'WorktreeCreate', worktreePath } }
}

/** The layer stays: to commit it, or to drop it, is a choice of the user. */
async function removeWorktree(
  options: CairnHooksOptions,
  event: ClaudeEvent,
): Promise<ClaudeHookAnswer> {
  const { worktree_path: path } = event as { readonly worktree_path?: string } & ClaudeEvent
  if (path !== undefined && (await findMount(path))?.directory === path)
    await runCairn(options, ['umount', path])
  return {}
}

async function mountOf(directory: string): Promise<MountPlace> {
  const place = await findMount(directory)
  if (place !== undefined) return place
  throw new Error(
    `cannot find the workspace of ${directory}: it is in no mount. Mount one with: cairn mount :/ DIRECTORY.`,
  )
}
