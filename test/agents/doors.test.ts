import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Workspace } from '@cairn/sdk'
import { useCairn } from '../e2e/run-cairn.ts'
import { type LocalSetup, noJail, openLocalSetup } from '../sandbox/local-setup.ts'
import { type Door, openDoors, type Place } from './doors.ts'

const identity = `
export GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z'
export GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=agent
export GIT_CONFIG_KEY_1=user.email GIT_CONFIG_VALUE_1=agent@example.org`
const clone = `${identity}
origin=$(mktemp -d); git init -q -b main "$origin" && cd "$origin"
echo 'answer=42' > answer.sh; echo '. ./answer.sh; test "$answer" = 42' > test.sh
git add . && git commit -qm first && cd - > /dev/null && git clone -q "$origin" site
rm -r "$origin"`
const commit = `${identity}
cd site && git add . && git commit -qm second && git rev-parse HEAD > ../head`

interface Outcome {
  readonly codes: readonly number[]
  readonly refused: unknown
  readonly files: Readonly<Record<string, string>>
  /** What each call changed, by the logs; what no call did is under `none`. */
  readonly calls: Readonly<Record<string, readonly string[]>>
}

/** The same task for every door: what comes of it, and the files at the end. */
async function work(open: (place: Place) => Promise<Door>, workspace: Workspace): Promise<Outcome> {
  const { name, layers } = workspace
  let calls = 0
  const within = async (layer: string | undefined, ...commands: string[]): Promise<number[]> => {
    const door = await open({ name, ...(layer !== undefined && { layer }) })
    const codes: number[] = []
    for (const command of commands) codes.push(await door.run(command, `call-${++calls}`))
    await door.close()
    return codes
  }
  const codes = await within(
    undefined,
    clone,
    'cd site && sed -i s/42/41/ answer.sh && sh test.sh',
    'cd site && sed -i s/41/42/ answer.sh && echo done >> notes && sh test.sh',
    commit,
  )
  const attempts = [await layers.create('/'), await layers.create('/')].map(({ id }) => id)
  for (const [at, id] of attempts.entries()) await within(id, `echo attempt ${at} > site/notes`)
  await layers.commit(attempts[0]!)
  const refused = await layers.commit(attempts[1]!).catch((error: { code: string }) => error.code)
  await layers.checkpoint('main', { toolCall: 'before-the-loss' })
  await within(undefined, 'rm -r site/*.sh; echo lost > site/notes')
  await layers.rollback('main', { beforeToolCall: 'before-the-loss' })
  const files: Record<string, string> = { head: await workspace.files.readText('/head') }
  for await (const { path, kind } of workspace.files.list('/site'))
    if (kind === 'file') files[path] = await workspace.files.readText(path)
  const branches = [workspace, ...attempts.map((id) => workspace.layer(id))]
  return { codes, refused, files, calls: await callsIn(branches) }
}

async function callsIn(branches: readonly Workspace[]): Promise<Outcome['calls']> {
  const calls: Record<string, Set<string>> = {}
  for (const branch of branches)
    for await (const { toolCall = 'none', operations } of branch.log())
      for (const path of operations.flatMap(({ path, to }) => [path, to]))
        // Git and sed give some of their own files names by chance.
        if (path !== undefined && !/\/\.git|\/sed\w{6}$/.test(path))
          (calls[toolCall] ??= new Set()).add(path)
  return Object.fromEntries(Object.entries(calls).map(([id, paths]) => [id, [...paths].sort()]))
}

describe.skipIf(noJail !== undefined)(
  `one task through every door (${noJail ?? 'as root'})`,
  () => {
    const cairn = useCairn()
    let setup: LocalSetup
    beforeAll(async () => {
      setup = await openLocalSetup()
    })
    afterAll(() => setup.close())

    it('ends with the same files, the same log, the same refused commit and the same rewind', async () => {
      const { named, unnamed } = openDoors(setup, cairn)
      const through = async (open: (place: Place) => Promise<Door>): Promise<Outcome> =>
        work(open, await setup.makeWorkspace())
      const expected: Outcome = {
        codes: [0, 1, 0, 0],
        refused: 'layer_conflict',
        files: {
          head: expect.stringMatching(/^[0-9a-f]{40}\n$/),
          '/site/answer.sh': 'answer=42\n',
          '/site/notes': 'attempt 0\n',
          '/site/test.sh': expect.stringContaining('answer'),
        },
        calls: {
          'call-1': ['/site', '/site/answer.sh', '/site/test.sh'],
          'call-2': ['/site/answer.sh'],
          'call-3': ['/site/answer.sh', '/site/notes'],
          'call-4': ['/head'],
          'call-5': ['/site/notes'],
          'call-6': ['/site/notes'],
          'call-7': ['/site/answer.sh', '/site/notes', '/site/test.sh'],
          none: expect.anything(),
        },
      }
      let first: Outcome | undefined
      for (const [door, open] of Object.entries(named)) {
        const outcome = await through(open)
        expect(outcome, door).toEqual(expected)
        expect(outcome, door).toEqual((first ??= outcome))
      }
      const all = [...new Set(Object.values(first!.calls).flat())].sort()
      for (const [door, open] of Object.entries(unnamed))
        expect(await through(open), door).toEqual({ ...first, calls: { none: all } })
    }, 240_000)
  },
)
