import type { Workspace } from '@cairn/sdk'
import type { Settings } from '../support/settings.ts'
import type { Steps } from '../support/steps.ts'
import { places } from './agents.ts'

const logLinesMax = 6

/** What a person on the host sees, without any sandbox. */
export async function showWorkspace(
  workspace: Workspace,
  steps: Steps,
  settings: Settings,
): Promise<void> {
  steps.say(`\nThe workspace, seen from the host (cairn fs ls -l)`)
  for (const directory of ['/', '/project', '/analysis'])
    for await (const { kind, mode, size, path } of workspace.files.list(directory))
      steps.say(`  ${mode} ${String(size).padStart(7)}  ${path}${kind === 'directory' ? '/' : ''}`)
  steps.say('\nIts log, newest first (cairn fs log)')
  await showLog(workspace, steps)
  steps.say(`\n${places.answer}\n`)
  const answer = await workspace.files.readText(`/${places.answer}`)
  for (const line of answer.trim().split('\n')) steps.say(`  ${line}`)
  steps.say(`\nNext\n${nextCommands(workspace.name, settings)}`)
}

async function showLog(workspace: Workspace, steps: Steps): Promise<void> {
  // Each sandbox has a token of its own, named after it.
  const names = new Map<string, string>()
  for await (const { id, name } of workspace.tokens.list()) names.set(id, name)
  let lines = 0
  const actors = new Map<string, number>()
  for await (const { seq, time, actor: id, operations } of workspace.log({ order: 'newest' })) {
    const actor = names.get(id) ?? id
    actors.set(actor, (actors.get(actor) ?? 0) + operations.length)
    for (const { op, path } of operations)
      if (path !== undefined && lines++ < logLinesMax)
        steps.say(`  ${seq}  ${time}  ${actor}  ${op} ${path}`)
  }
  const parts = [...actors].map(([actor, count]) => `${count} operations by ${actor}`)
  steps.say(`  … in all ${parts.join(', ')}`)
}

function nextCommands(workspace: string, { data, server }: Settings): string {
  if (data === undefined && server === undefined)
    return [
      '  npm run quickstart -- --data ./demo       the same, and what it made stays',
      '  npm run quickstart -- URL --question "…"  on a repository of yours',
      '  npm run example:two-sandboxes             two sandboxes at once',
    ].join('\n')
  const serve = data === undefined ? [] : [`  cairn serve --data ${data} &`]
  const key =
    data === undefined
      ? '--server URL --api-key-file FILE'
      : `--server http://127.0.0.1:7070 --api-key-file ${data}/owner-key`
  return [
    '  npm run build',
    '  export PATH="$PWD/node_modules/.bin:$PATH"',
    ...serve,
    `  cairn login ${key} --workspace ${workspace}`,
    '  cairn fs cat :/analysis/qa-response.md',
    '  cairn mount :/ ./work                     the same as a directory',
  ].join('\n')
}
