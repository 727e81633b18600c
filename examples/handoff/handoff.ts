import type { Sandbox } from '@cairn/sandbox'
import type { Workspace } from '@cairn/sdk'
import type { Example } from '../support/run-example.ts'
import type { Settings } from '../support/settings.ts'
import type { Steps } from '../support/steps.ts'
import {
  compareTrees,
  hashTree,
  readTreeInside,
  readTreeOutside,
  type Tree,
} from '../support/tree.ts'
import type { World } from '../support/world.ts'
import { answerQuestion, places, writeAnalysis } from './agents.ts'
import { chooseAnalyst } from './analyst.ts'
import { fixtureQuestion } from './fixture.ts'
import { cloneRepository, sandboxOptionsFor } from './repository.ts'
import { showWorkspace } from './show.ts'

/** For a repository of which nothing is known. */
const generalQuestion = 'What does this project do, and what is left to do?'

export const handoff: Example = {
  title: 'Cairn: one workspace, two sandboxes that never meet',
  usage: `npm run quickstart -- [REPOSITORY] [options]

  REPOSITORY              what to clone: a URL, or a directory of this machine; default: a small one made on the spot
  --question TEXT         what sandbox B is asked about it
`,
  tell: async (world, steps, settings) => {
    const { analyst, note } = chooseAnalyst(process.env)
    steps.say(`           ${note}`)
    const left = await runA(world, steps, settings, analyst)
    const crossed = await runB(world, steps, settings, analyst)
    const isWhole = await compareAll(world.workspace, steps, { left, ...crossed })
    await showWorkspace(world.workspace, steps, settings)
    return isWhole
  },
}

type Analyst = ReturnType<typeof chooseAnalyst>['analyst']

/** Clones and analyses; is killed. Gives the tree as A saw it at its end. */
async function runA(
  { startSandbox }: World,
  steps: Steps,
  settings: Settings,
  analyst: Analyst,
): Promise<Tree> {
  const [repository] = settings.words
  const sandbox = await steps.run(
    'sandbox A',
    () => startSandbox(sandboxOptionsFor(repository)),
    describeSandbox,
  )
  const clone = await steps.run(
    'clone',
    () => cloneRepository(sandbox, repository),
    ({ source, commit, files }) => `${source} at ${commit}, ${files} files, into project/`,
  )
  await steps.run(
    'analyse',
    () => writeAnalysis(sandbox, analyst, clone),
    () => `wrote ${places.summary} and ${places.handoff}`,
  )
  const tree = await steps.run(
    'look',
    () => readTreeInside(sandbox),
    (seen) => `A sees ${seen.size} entries, tree ${shortHash(seen)}`,
  )
  // Returns when what A wrote is at the server: whatever happens to A from here on is of no importance.
  await steps.run(
    'sync',
    () => requireSuccess(sandbox, 'sync .'),
    () => 'all of it is at the server',
  )
  await steps.run(
    'kill A',
    () => sandbox.dispose({ drain: false }),
    () => 'as by kill -9: no unmount, no goodbye; its disk is gone',
  )
  return tree
}

interface Crossed {
  /** The tree as B found it, and as B left it. */
  readonly found: Tree
  readonly ended: Tree
}

async function runB(
  { startSandbox }: World,
  steps: Steps,
  settings: Settings,
  analyst: Analyst,
): Promise<Crossed> {
  const sandbox = await steps.run('sandbox B', () => startSandbox(), describeSandbox)
  const found = await steps.run(
    'look',
    () => readTreeInside(sandbox),
    (seen) => `B sees ${seen.size} entries, tree ${shortHash(seen)}`,
  )
  const isFixture = settings.words.length === 0
  const question = settings.question ?? (isFixture ? fixtureQuestion : generalQuestion)
  await steps.run(
    'answer',
    () => answerQuestion(sandbox, analyst, question),
    () => `read ${places.handoff}, wrote ${places.answer}`,
  )
  const ended = await readTreeInside(sandbox)
  await steps.run(
    'end B',
    () => sandbox.dispose(),
    () => 'unmounted and destroyed',
  )
  return { found, ended }
}

/** Whether every byte crossed, told with each one that did not. */
async function compareAll(
  workspace: Workspace,
  steps: Steps,
  { left, found, ended }: Crossed & { readonly left: Tree },
): Promise<boolean> {
  const kept = await readTreeOutside(workspace)
  steps.say('\nWhat crossed, compared by mode and SHA-256 of every file')
  const pairs = [
    ['A at its end -> B at its start', left, found],
    ['B at its end -> the server', ended, kept],
  ] as const
  const differing = pairs.map(([name, before, after]) => {
    const lines = compareTrees(before, after)
    const verdict = lines.length === 0 ? 'every byte' : `NOT THE SAME: ${lines.length} paths`
    steps.say(`  ${name.padEnd(32)} ${shortHash(before)} ${shortHash(after)}  ${verdict}`)
    for (const line of lines.slice(0, 10)) steps.say(`    ${line}`)
    return lines.length
  })
  return differing.every((count) => count === 0)
}

async function requireSuccess(sandbox: Sandbox, command: string): Promise<void> {
  const { code, stderr } = await sandbox.exec(command)
  if (code !== 0) throw new Error(`${command} failed in the sandbox: ${stderr.trim()}`)
}

function describeSandbox({ kind, workDir }: Sandbox): string {
  const what = kind === 'local' ? 'a jail on this machine' : 'a machine at E2B'
  return `${what}, the workspace at ${workDir}`
}

function shortHash(tree: Tree): string {
  return hashTree(tree).slice(0, 12)
}
