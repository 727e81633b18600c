import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sandboxSession } from '@cairn/agents/ai-sdk/sandbox'
import { openHarness } from '@cairn/agents/harness'
import { type Sandbox, SandboxFactory } from '@cairn/sandbox'
import type { Workspace } from '@cairn/sdk'
import { type LocalSetup, noJail, openLocalSetup } from '../sandbox/local-setup.ts'

interface Place {
  readonly name: string
  readonly layer?: string
}

/** One way in for commands: what it ran is at the server when `close` resolves. */
interface Door {
  readonly run: (command: string) => Promise<number>
  readonly close: () => Promise<void>
}

const clone = `
export GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z'
export GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=agent
export GIT_CONFIG_KEY_1=user.email GIT_CONFIG_VALUE_1=agent@example.org
git init -q -b main /tmp/origin && cd /tmp/origin
echo 'answer=42' > answer.sh; echo '. ./answer.sh; test "$answer" = 42' > test.sh
git add . && git commit -qm first && cd - > /dev/null && git clone -q /tmp/origin site`
const commit = clone.split('\n').slice(1, 4).join('\n')

/** The same task for every door: what comes of it, and the files at the end. */
async function work(open: (place: Place) => Promise<Door>, workspace: Workspace): Promise<unknown> {
  const { name } = workspace
  const { layers } = workspace
  const within = async (layer: string | undefined, ...commands: string[]): Promise<number[]> => {
    const door = await open({ name, ...(layer !== undefined && { layer }) })
    const codes: number[] = []
    for (const command of commands) codes.push(await door.run(command))
    await door.close()
    return codes
  }
  const codes = await within(
    undefined,
    clone,
    'cd site && sed -i s/42/41/ answer.sh && sh test.sh',
    'cd site && sed -i s/41/42/ answer.sh && echo done >> notes && sh test.sh',
    `${commit}\ncd site && git add . && git commit -qm second && git rev-parse HEAD > ../head`,
  )
  const attempts = [await layers.create('/'), await layers.create('/')].map(({ id }) => id)
  for (const [at, id] of attempts.entries()) await within(id, `echo attempt ${at} > site/notes`)
  await layers.commit(attempts[0]!)
  const refused = await layers.commit(attempts[1]!).catch((error: { code: string }) => error.code)
  await layers.checkpoint('main', { toolCall: 'call-1' })
  await within(undefined, 'rm -r site/*.sh; echo lost > site/notes')
  await layers.rollback('main', { beforeToolCall: 'call-1' })
  const files: Record<string, string> = { head: await workspace.files.readText('/head') }
  for await (const { path, kind } of workspace.files.list('/site'))
    if (kind === 'file') files[path] = await workspace.files.readText(path)
  return { codes, refused, files }
}

describe.skipIf(noJail !== undefined)(
  `one task through every door (${noJail ?? 'as root'})`,
  () => {
    let setup: LocalSetup
    beforeAll(async () => {
      setup = await openLocalSetup()
    })
    afterAll(() => setup.close())

    const through = (sandbox: Sandbox, run: Door['run']): Door => ({
      run,
      close: () => sandbox.dispose(),
    })
    const doors: Readonly<Record<string, (place: Place) => Promise<Door>>> = {
      'a sandbox of the factory that KODE takes': async (place) => {
        const factory = new SandboxFactory()
        factory.register('local', () => setup.make(place))
        const sandbox = await factory.createAsync({ kind: 'local' })
        return through(sandbox, async (command) => (await sandbox.exec(command)).code)
      },
      'the session of the AI SDK': async (place) => {
        const sandbox = setup.make(place)
        const session = sandboxSession(sandbox)
        return through(sandbox, async (command) => (await session.run({ command })).exitCode)
      },
      'the bash tool of a harness': async ({ name, layer }) => {
        const harness = openHarness({
          config: { provider: 'local', permissionMode: 'bypass' },
          workspace: {
            name,
            server: setup.server,
            token: setup.secrets[0]!,
            ...(layer !== undefined && { layer }),
          },
          local: { directory: setup.directory },
        })
        const run = async (code: string): Promise<number> => (await harness.run({ code })).exitCode
        return { run, close: () => harness.close() }
      },
    }

    it('ends with the same files, the same refused commit and the same rewind', async () => {
      const outcomes: unknown[] = []
      for (const open of Object.values(doors))
        outcomes.push(await work(open, await setup.makeWorkspace()))
      expect(outcomes[0]).toEqual({
        codes: [0, 1, 0, 0],
        refused: 'layer_conflict',
        files: {
          head: expect.stringMatching(/^[0-9a-f]{40}\n$/),
          '/site/answer.sh': 'answer=42\n',
          '/site/notes': 'attempt 0\n',
          '/site/test.sh': expect.stringContaining('answer'),
        },
      })
      for (const outcome of outcomes) expect(outcome).toEqual(outcomes[0])
    })
  },
)
