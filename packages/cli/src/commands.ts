import type { Command } from './arguments/command.ts'

type Loader = () => Promise<{ readonly command: Command }>

/** What stands before a verb. */
export const nouns = {
  server: 'Maintain the data of a server',
  ctx: 'Save servers and keys as named contexts',
  ws: 'Create, copy and delete workspaces',
  fs: 'Work with the files of a workspace',
  profile: 'Show which directories of a mount are sent later',
  key: 'Manage owner keys, which allow everything',
  token: 'Issue tokens for certain paths and operations',
  sandbox: 'Run commands in sandboxes',
  'fs layer': 'Make, compare and commit layers: private attempts at a directory',
  'tool-call': 'Note which tool call makes the changes of a mount',
  git: 'Use git repositories in a workspace',
  'git worktree': 'Make more working trees of a repository',
  vault: 'Store secrets and give agents access to them',
  journal: 'Record what agents do in signed, append-only journals',
} as const

/** Every command by its words. Their code is loaded when it is needed: `cairn --version` loads none of it. */
export const commands: Readonly<Record<string, Loader>> = {
  up: () => import('./commands/up.ts'),
  status: () => import('./commands/status.ts'),
  down: () => import('./commands/down.ts'),
  serve: () => import('./commands/serve.ts'),
  'server check': () => import('./commands/server/check.ts'),
  'server gc': () => import('./commands/server/gc.ts'),
  'server rotate-master-key': () => import('./commands/server/rotate-master-key.ts'),
  'server status': () => import('./commands/server/status.ts'),
  'server verify-stores': () => import('./commands/server/verify-stores.ts'),
  init: () => import('./commands/init.ts'),
  login: () => import('./commands/login.ts'),
  logout: () => import('./commands/logout.ts'),
  mount: () => import('./commands/mount/mount.ts'),
  'mount vault': () => import('./commands/mount/vault.ts'),
  'mount ls': () => import('./commands/mount/ls.ts'),
  'mount status': () => import('./commands/mount/status.ts'),
  'mount drain': () => import('./commands/mount/drain.ts'),
  'tool-call begin': () => import('./commands/tool-call/begin.ts'),
  'tool-call end': () => import('./commands/tool-call/end.ts'),
  pack: () => import('./commands/pack.ts'),
  unpack: () => import('./commands/unpack.ts'),
  'profile ls': () => import('./commands/profile/ls.ts'),
  'profile show': () => import('./commands/profile/show.ts'),
  umount: () => import('./commands/umount.ts'),
  exec: () => import('./commands/exec.ts'),
  sql: () => import('./commands/sql.ts'),
  mcp: () => import('./commands/mcp.ts'),
  doctor: () => import('./commands/doctor.ts'),
  'ctx add': () => import('./commands/ctx/add.ts'),
  'ctx use': () => import('./commands/ctx/use.ts'),
  'ctx ls': () => import('./commands/ctx/ls.ts'),
  'ctx show': () => import('./commands/ctx/show.ts'),
  'ctx rm': () => import('./commands/ctx/rm.ts'),
  'ctx fork': () => import('./commands/ctx/fork.ts'),
  'ctx import': () => import('./commands/ctx/import.ts'),
  'ws create': () => import('./commands/ws/create.ts'),
  'ws ls': () => import('./commands/ws/ls.ts'),
  'ws quota': () => import('./commands/ws/quota.ts'),
  'ws rename': () => import('./commands/ws/rename.ts'),
  'ws restore': () => import('./commands/ws/restore.ts'),
  'ws rm': () => import('./commands/ws/rm.ts'),
  'ws export': () => import('./commands/ws/export.ts'),
  'ws import': () => import('./commands/ws/import.ts'),
  'ws verify': () => import('./commands/ws/verify.ts'),
  'ws warm': () => import('./commands/ws/warm.ts'),
  'fs ls': () => import('./commands/fs/ls.ts'),
  'fs cat': () => import('./commands/fs/cat.ts'),
  'fs cp': () => import('./commands/fs/cp.ts'),
  'fs archive': () => import('./commands/fs/archive.ts'),
  'fs import': () => import('./commands/fs/import.ts'),
  'fs mv': () => import('./commands/fs/mv.ts'),
  'fs rm': () => import('./commands/fs/rm.ts'),
  'fs mkdir': () => import('./commands/fs/mkdir.ts'),
  'fs stat': () => import('./commands/fs/stat.ts'),
  'fs chmod': () => import('./commands/fs/chmod.ts'),
  'fs tag': () => import('./commands/fs/tag.ts'),
  'fs symlink': () => import('./commands/fs/symlink.ts'),
  'fs hardlink': () => import('./commands/fs/hardlink.ts'),
  'fs find': () => import('./commands/fs/find.ts'),
  'fs grep': () => import('./commands/fs/grep.ts'),
  'fs search': () => import('./commands/fs/search.ts'),
  'fs log': () => import('./commands/fs/log.ts'),
  'fs undo': () => import('./commands/fs/undo.ts'),
  'fs blame': () => import('./commands/fs/blame.ts'),
  'fs layer create': () => import('./commands/layer/create.ts'),
  'fs layer list': () => import('./commands/layer/list.ts'),
  'fs layer status': () => import('./commands/layer/status.ts'),
  'fs layer watch': () => import('./commands/layer/watch.ts'),
  'fs layer diff': () => import('./commands/layer/diff.ts'),
  'fs layer log': () => import('./commands/layer/log.ts'),
  'fs layer checkpoint': () => import('./commands/layer/checkpoint.ts'),
  'fs layer checkpoints': () => import('./commands/layer/checkpoints.ts'),
  'fs layer rollback': () => import('./commands/layer/rollback.ts'),
  'fs layer undo': () => import('./commands/layer/undo.ts'),
  'fs layer commit': () => import('./commands/layer/commit.ts'),
  'fs layer rebase': () => import('./commands/layer/rebase.ts'),
  'fs layer resolve': () => import('./commands/layer/resolve.ts'),
  'fs layer pick': () => import('./commands/layer/pick.ts'),
  'fs layer abandon': () => import('./commands/layer/abandon.ts'),
  'fs layer reopen': () => import('./commands/layer/reopen.ts'),
  'fs layer delete': () => import('./commands/layer/delete.ts'),
  'fs layer tag': () => import('./commands/layer/tag.ts'),
  'fs layer rename': () => import('./commands/layer/rename.ts'),
  'fs layer quota': () => import('./commands/layer/quota.ts'),
  'fs layer auto-checkpoint': () => import('./commands/layer/auto-checkpoint.ts'),
  'fs layer fork': () => import('./commands/layer/fork.ts'),
  'fs layer chain': () => import('./commands/layer/chain.ts'),
  'key add': () => import('./commands/key/add.ts'),
  'key ls': () => import('./commands/key/ls.ts'),
  'key rotate': () => import('./commands/key/rotate.ts'),
  'key rm': () => import('./commands/key/rm.ts'),
  'token issue': () => import('./commands/token/issue.ts'),
  'token narrow': () => import('./commands/token/narrow.ts'),
  'token list': () => import('./commands/token/list.ts'),
  'token show': () => import('./commands/token/show.ts'),
  'token revoke': () => import('./commands/token/revoke.ts'),
  'token refresh': () => import('./commands/token/refresh.ts'),
  'sandbox serve': () => import('./commands/sandbox/serve.ts'),
  'sandbox ls': () => import('./commands/sandbox/ls.ts'),
  'sandbox logs': () => import('./commands/sandbox/logs.ts'),
  'sandbox exec': () => import('./commands/sandbox/exec.ts'),
  'sandbox kill': () => import('./commands/sandbox/kill.ts'),
  'sandbox install': () => import('./commands/sandbox/install.ts'),
  'sandbox template': () => import('./commands/sandbox/template.ts'),
  'vault set': () => import('./commands/vault/set.ts'),
  'vault put': () => import('./commands/vault/put.ts'),
  'vault get': () => import('./commands/vault/get.ts'),
  'vault ls': () => import('./commands/vault/ls.ts'),
  'vault rm': () => import('./commands/vault/rm.ts'),
  'vault history': () => import('./commands/vault/history.ts'),
  'vault grant': () => import('./commands/vault/grant.ts'),
  'vault grants': () => import('./commands/vault/grants.ts'),
  'vault revoke': () => import('./commands/vault/revoke.ts'),
  'vault audit': () => import('./commands/vault/audit.ts'),
  'vault exec': () => import('./commands/vault/exec.ts'),
  'git clone': () => import('./commands/git/clone.ts'),
  'git export': () => import('./commands/git/export.ts'),
  'git import': () => import('./commands/git/import.ts'),
  'git status': () => import('./commands/git/status.ts'),
  'git hydrate': () => import('./commands/git/hydrate.ts'),
  'git worktree add': () => import('./commands/git/worktree/add.ts'),
  'journal new': () => import('./commands/journal/new.ts'),
  'journal append': () => import('./commands/journal/append.ts'),
  'journal cat': () => import('./commands/journal/cat.ts'),
  'journal find': () => import('./commands/journal/find.ts'),
  'journal ls': () => import('./commands/journal/ls.ts'),
  'journal verify': () => import('./commands/journal/verify.ts'),
  'journal export': () => import('./commands/journal/export.ts'),
  'journal seal': () => import('./commands/journal/seal.ts'),
  completion: () => import('./commands/completion.ts'),
  version: () => import('./commands/version.ts'),
  help: () => import('./commands/help.ts'),
}

/** Other words for them, which drive9 or Deeplake has, or fingers know. */
export const aliases: Readonly<Record<string, string>> = {
  ctx: 'ctx show',
  'ctx list': 'ctx ls',
  'mount list': 'mount ls',
  list: 'mount ls',
  stop: 'umount',
  'ws list': 'ws ls',
  'key list': 'key ls',
  'token ls': 'token list',
  'sandbox list': 'sandbox ls',
  'fs layer ls': 'fs layer list',
  'fs layer get': 'fs layer status',
  'fs layer rm': 'fs layer delete',
  'vault list': 'vault ls',
  'journal list': 'journal ls',
  log: 'fs log',
  blame: 'fs blame',
  'vault with': 'vault exec',
}

export interface NamedCommand {
  readonly name: string
  readonly command: Command
}

export async function loadCommand(name: string): Promise<Command> {
  const load = commands[name]
  if (!load) throw new Error(`there is no command ${name}`)
  return (await load()).command
}

/** All commands that stand directly below a noun, or really all. */
export function loadCommands(noun?: string): Promise<NamedCommand[]> {
  const names = Object.keys(commands).filter((name) => noun === undefined || nounOf(name) === noun)
  return Promise.all(names.map(async (name) => ({ name, command: await loadCommand(name) })))
}

/** `fs` of `fs ls`, `fs layer` of `fs layer ls`; empty for a command of one word. */
export function nounOf(name: string): string {
  return name.split(' ').slice(0, -1).join(' ')
}

/** Those that stand directly below another one, or with an empty name below none. */
export function nounsOf(noun: string): [name: string, summary: string][] {
  return Object.entries(nouns).filter(([name]) => nounOf(name) === noun)
}
