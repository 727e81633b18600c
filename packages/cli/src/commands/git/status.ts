import { type Command, defineCommand } from '../../arguments/command.ts'
import { type CloneState, readCloneState } from '../../git/clone-state.ts'
import type { HydrationState } from '../../git/hydrate/hydration-state.ts'
import { setFsmonitor } from '../../git/fsmonitor.ts'
import { formatTable } from '../../output/table.ts'

const fsmonitorWords: Readonly<Record<CloneState['fsmonitor'], string>> = {
  working: 'working: git status looks at what changed',
  waiting: 'not now: the mount is new, or another mount writes; git status looks at every file',
  elsewhere: 'not here: this is no mount that can answer; git status looks at every file',
  unset: 'not set: git status looks at every file',
}

export const command: Command = defineCommand({
  summary: 'Show where a clone comes from, and whether git status is fast in it',
  description:
    'Prints the origin, what is checked out, how much of the history and content is there, whether git asks the mount what\n' +
    'changed, and what to do next. For the files that changed, use git status.',
  arguments: { directory: { summary: 'A directory of a working tree' } },
  options: {
    'set-fsmonitor': {
      kind: 'flag',
      summary: 'Have git ask the mount what changed, as a fast clone does',
    },
  },
  examples: [
    { command: 'cairn git status ./work/repo', does: 'what is this clone?' },
    {
      command: 'cairn git status --set-fsmonitor ./work/repo',
      does: 'make git status faster in a repository that git cloned',
    },
  ],
  async run({ args: { directory }, options, cli }) {
    const before = await readCloneState(cli, directory)
    if (options['set-fsmonitor']) await setFsmonitor(cli, before.path)
    const state = options['set-fsmonitor'] ? await readCloneState(cli, before.path) : before
    if (cli.isJson) return cli.out.json(state)
    for (const line of formatTable(rowsOf(state))) await cli.out.line(line)
    for (const line of state.todo) await cli.out.line(line)
  },
})

function rowsOf(state: CloneState): string[][] {
  const { path, origin, branch, commit, history, content, isSparse, fsmonitor } = state
  const parts = [
    history === 'shallow' ? 'the newest commits' : 'the whole history',
    content === 'blobless' ? 'git asks the origin for what is missing' : 'all content',
    ...(isSparse ? ['a part of the files'] : []),
  ]
  return [
    ['path', path],
    ['origin', origin ?? 'none'],
    ['head', `${branch ?? 'no branch'}, ${commit ?? 'no commit'}`],
    ['here', parts.join(', ')],
    ['hydration', describeHydration(state.hydration)],
    ['fsmonitor', fsmonitorWords[fsmonitor]],
  ]
}

function describeHydration({ state, missing, reason, at }: HydrationState): string {
  const count = missing === 1 ? '1 object is missing' : `${missing} objects are missing`
  if (state === 'done') return 'done: no object is missing'
  if (state === 'running') return `running: ${count}; last news at ${at ?? 'an unknown time'}`
  if (state === 'failed') return `failed: ${reason ?? 'no reason is known'}; ${count}`
  return state === 'interrupted'
    ? `interrupted at ${at ?? 'an unknown time'}: ${count}`
    : `off: ${count}`
}
