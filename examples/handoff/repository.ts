import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { LocalSandboxOptions, Sandbox } from '@cairn/sandbox'
import { fixtureFiles, fixtureSetup } from './fixture.ts'

export interface Clone {
  /** As a person calls it. */
  readonly source: string
  readonly commit: string
  readonly files: number
}

const fixturePlace = '/tmp/fixture'
const lentPlace = '/srv/repository'
const cloneTimeoutMs = 300_000

/** What a local sandbox needs to reach a repository: a way out for a URL, a view of it for a directory. */
export function sandboxOptionsFor(repository: string | undefined): LocalSandboxOptions {
  if (repository === undefined) return { allowPaths: ['/tmp'] }
  if (!existsSync(repository)) return { allowInternetAccess: true }
  return { binds: [{ source: resolve(repository), target: lentPlace }] }
}

/** `git clone` straight into the mounted workspace. */
export async function cloneRepository(
  sandbox: Sandbox,
  repository: string | undefined,
): Promise<Clone> {
  const from = await sourceOf(sandbox, repository)
  // The lent directory belongs to a user whom the sandbox does not know.
  await run(sandbox, `git config --global --add safe.directory '*'`)
  await run(sandbox, `git clone -q -- ${quote(from)} project`)
  const said = await run(
    sandbox,
    'git -C project log -1 --format=%h && git -C project ls-files | wc -l',
  )
  const [commit = '', files = '0'] = said.trim().split('\n')
  const source = repository ?? 'a repository made on the spot'
  return { source, commit, files: Number(files) }
}

async function sourceOf(sandbox: Sandbox, repository: string | undefined): Promise<string> {
  if (repository === undefined) return makeFixture(sandbox)
  if (!existsSync(repository)) return repository
  if (sandbox.kind === 'local') return lentPlace
  throw new Error(
    `cannot clone ${repository} at E2B: it is a directory of this machine. Give a URL that E2B reaches.`,
  )
}

/** On the sandbox's own disk, which goes with it. */
async function makeFixture(sandbox: Sandbox): Promise<string> {
  for (const [path, text] of Object.entries(fixtureFiles))
    await sandbox.fs.write(`${fixturePlace}/${path}`, text)
  await run(sandbox, `cd ${fixturePlace} && ${fixtureSetup}`)
  return fixturePlace
}

async function run(sandbox: Sandbox, command: string): Promise<string> {
  const { code, stdout, stderr } = await sandbox.exec(command, { timeoutMs: cloneTimeoutMs })
  if (code === 0) return stdout
  throw new Error(
    `cannot get the repository: \`${command}\` failed in the sandbox: ${stderr.trim()}`,
  )
}

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}
