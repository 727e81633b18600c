import { compileProfile, type Profile } from '@cairn/mount/beside'
import type { CheckpointInfo, Files, ReadableFiles } from '@cairn/sdk'
import type { Cli } from '../cli.ts'
import type { Remote } from '../remote/open.ts'

/** Puts local directories of a pack back where they are missing or empty now. */
export async function restorePack(
  cli: Cli,
  { cairn, workspace, files, path: root }: Remote,
  { id, label }: CheckpointInfo,
  profile: Profile,
): Promise<void> {
  const { signal } = cli
  const then = cairn.workspace(workspace.name, { at: id }).files
  const restored: string[] = []
  const kept: string[] = []
  for await (const path of localDirectories(then, root, profile, signal)) {
    if (await hasEntries(files, path, signal)) {
      kept.push(path)
      continue
    }
    const open = async function* (): AsyncGenerator<Uint8Array> {
      yield* await then.archive(path, { signal })
    }
    await files.importTar(path, open, { signal })
    restored.push(path)
  }
  if (cli.isJson) return cli.out.json({ pack: label, restored, kept })
  for (const path of restored) await cli.out.line(`restored :${path}`)
  for (const path of kept) await cli.out.line(`kept :${path}, which has content now`)
  await cli.out.line(
    restored.length === 0
      ? `nothing to do: the workspace has the directories of ${label}; mount it`
      : `the directories of ${label} are back; mount the workspace`,
  )
}

/** The topmost ones. */
async function* localDirectories(
  files: ReadableFiles,
  root: string,
  profile: Profile,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const classify = compileProfile(profile)
  if (!classify) return
  const left = [root]
  for (let path = left.pop(); path !== undefined; path = left.pop())
    for await (const { name, kind } of files.list(path, { signal })) {
      if (kind !== 'directory') continue
      const below = path === '/' ? `/${name}` : `${path}/${name}`
      const names = below.slice(root === '/' ? 1 : root.length + 1).split('/')
      if (classify(names) === 'local') yield below
      else left.push(below)
    }
}

async function hasEntries(files: Files, path: string, signal: AbortSignal): Promise<boolean> {
  if (!(await files.exists(path, { signal }))) return false
  const { items } = await files.listPage(path, { limit: 1, signal })
  return items.length > 0
}
