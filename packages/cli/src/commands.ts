import type { Command } from './arguments/command.ts'

type Loader = () => Promise<{ readonly command: Command }>

/** What stands before a verb. */
export const nouns = {
  ctx: 'Servers and keys, saved under names',
  ws: 'Workspaces',
  fs: 'Files of a workspace',
} as const

/** Every command by its words. Their code is loaded when it is needed: `cairn --version` loads none of it. */
export const commands: Readonly<Record<string, Loader>> = {
  serve: () => import('./commands/serve.ts'),
  'ctx add': () => import('./commands/ctx/add.ts'),
  'ctx use': () => import('./commands/ctx/use.ts'),
  'ctx ls': () => import('./commands/ctx/ls.ts'),
  'ctx show': () => import('./commands/ctx/show.ts'),
  'ctx rm': () => import('./commands/ctx/rm.ts'),
  'ctx import': () => import('./commands/ctx/import.ts'),
  'ws create': () => import('./commands/ws/create.ts'),
  'ws ls': () => import('./commands/ws/ls.ts'),
  'ws rm': () => import('./commands/ws/rm.ts'),
  'fs ls': () => import('./commands/fs/ls.ts'),
  'fs cat': () => import('./commands/fs/cat.ts'),
  'fs cp': () => import('./commands/fs/cp.ts'),
  'fs mv': () => import('./commands/fs/mv.ts'),
  'fs rm': () => import('./commands/fs/rm.ts'),
  'fs mkdir': () => import('./commands/fs/mkdir.ts'),
  'fs stat': () => import('./commands/fs/stat.ts'),
  'fs chmod': () => import('./commands/fs/chmod.ts'),
  'fs symlink': () => import('./commands/fs/symlink.ts'),
  'fs hardlink': () => import('./commands/fs/hardlink.ts'),
  'fs find': () => import('./commands/fs/find.ts'),
  'fs log': () => import('./commands/fs/log.ts'),
  completion: () => import('./commands/completion.ts'),
  version: () => import('./commands/version.ts'),
  help: () => import('./commands/help.ts'),
}

/** Other words for them, which drive9 has or fingers know. */
export const aliases: Readonly<Record<string, string>> = {
  ctx: 'ctx show',
  'ctx list': 'ctx ls',
  'ws list': 'ws ls',
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

/** All commands of a noun, or really all. */
export function loadCommands(noun?: string): Promise<NamedCommand[]> {
  const names = Object.keys(commands).filter(
    (name) => noun === undefined || name.startsWith(`${noun} `),
  )
  return Promise.all(names.map(async (name) => ({ name, command: await loadCommand(name) })))
}
