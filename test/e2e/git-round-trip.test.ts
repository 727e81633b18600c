// What leaves a workspace as a git repository, is changed there, and comes back, is what git has.
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { randomEdit } from '../mount/random/edits.ts'
import { everyRun } from '../mount/random/seeds.ts'
import { Random } from '../mount/random/step.ts'
import { git } from './run-git.ts'
import { useDirectory } from './use-directory.ts'
import { useServer } from './use-server.ts'

const identity = ['-c', 'user.name=n', '-c', 'user.email=n@example.org']
const rounds = 4
const editsOfRound = 25
const server = useServer()
const local = useDirectory()

/** The changes of a working tree as a commit on top of main, wherever its head is. */
async function commitOf(path: string): Promise<string> {
  await git(path, 'add', '-A')
  const tree = (await git(path, 'write-tree')).trim()
  const parent = ['-p', 'origin/main']
  return (await git(path, ...identity, 'commit-tree', tree, ...parent, '-m', 'Round')).trim()
}

async function treeOf(path: string, commit: string): Promise<string> {
  return git(path, 'rev-parse', `${commit}^{tree}`)
}

it.each(everyRun)(
  'random changes come back as they are, and nothing else (seed %i)',
  async (seed) => {
    const name = `round-${seed}`
    const workspace = await server.enter(name)
    for (const path of ['/1', '/a/b', '/d/e/f', '/d/e/g'])
      await workspace.files.write(path, `${path}\n`)
    const url = `${server.url.replace('://', `://me:${server.apiKey}@`)}/git/${name}`
    const path = join(local.path, name)
    await git(local.path, 'clone', '-q', url, path)
    const random = new Random(seed)
    for (let round = 1; round <= rounds; round++) {
      const done = Array.from({ length: editsOfRound }, () => randomEdit(path, random))
      const commit = await commitOf(path)
      await git(path, 'push', '-q', 'origin', `${commit}:refs/heads/attempts/round-${round}`)
      await workspace.layers.commit(`round-${round}`)
      await git(path, 'fetch', '-q')
      expect(await treeOf(path, 'origin/main'), done.join('\n')).toBe(await treeOf(path, commit))

      const listed: string[] = []
      for await (const { kind, path: file } of workspace.files.walk('/'))
        if (kind !== 'directory') listed.push(file.slice(1))
      const inGit = (await git(path, 'ls-tree', '-r', '-z', '--name-only', commit)).split('\0')
      expect(new Set(listed)).toEqual(new Set(inGit.filter(Boolean)))
      await git(path, 'checkout', '-q', '-f', '--detach', 'origin/main')
    }
  },
)

it('a commit that changes nothing makes a layer with the root of main', async () => {
  await server.cairn.workspaces.create('same')
  const workspace = server.cairn.workspace('same')
  await workspace.files.write('/a', 'a\n')
  await workspace.files.mkdir('/empty')
  const url = `${server.url.replace('://', `://me:${server.apiKey}@`)}/git/same`
  await git(local.path, 'clone', '-q', url, 'same')
  const path = join(local.path, 'same')
  await git(path, ...identity, 'commit', '-q', '--allow-empty', '-m', 'Nothing')
  await git(path, 'push', '-q', 'origin', 'HEAD:attempts/nothing')
  expect(await workspace.layers.diff('nothing')).toEqual([])
})
