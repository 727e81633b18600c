import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isCairnError } from '@cairn/protocol'
import type { Cli } from '../../cli.ts'
import { remotePath } from '../../copy/remote-path.ts'
import type { Remote } from '../../remote/open.ts'
import { runGit } from '../run-git.ts'

const attemptsMax = 5

/** Everything is there: what makes git ask the origin for objects goes, and the clone is a whole one. */
export async function finishHydration(cli: Cli, { files }: Remote, gitPath: string): Promise<void> {
  const { signal } = cli
  await withoutPromises(cli, files, remotePath(gitPath, 'config') as string)
  // Second: as long as the setting is there, the marks of packs keep git from missing objects.
  const packs = `${gitPath}/objects/pack`
  const marks: string[] = []
  for await (const { name } of files.list(packs, { signal }))
    if (name.endsWith('.promisor')) marks.push(`${packs}/${name}`)
  for (const path of marks)
    await files.remove(path, { signal }).catch((error: unknown) => {
      // A token without `delete` leaves what others made. Then git gc stores some objects twice, and that is all.
      if (!isCairnError(error, 'forbidden')) throw error
    })
}

/** A program may change the configuration meanwhile. */
async function withoutPromises(cli: Cli, files: Remote['files'], path: string): Promise<void> {
  const { signal } = cli
  for (let attempt = 1; ; attempt++) {
    const { etag } = await files.stat(path, { signal })
    const before = await files.read(path, { signal })
    const after = await editedConfig(cli, before)
    if (after.equals(before)) return
    try {
      await files.write(path, after, { ifMatch: etag, signal })
      return
    } catch (error) {
      if (!isCairnError(error, 'precondition_failed') || attempt === attemptsMax) throw error
    }
  }
}

async function editedConfig(cli: Cli, before: Uint8Array): Promise<Buffer> {
  const directory = await mkdtemp(join(tmpdir(), 'cairn-git-'))
  const file = join(directory, 'config')
  const config = (...args: string[]): Promise<Buffer> =>
    runGit(cli, ['config', '-f', file, ...args])
  try {
    await writeFile(file, before)
    const setting = String.raw`^(remote\..*\.(promisor|partialclonefilter)|extensions\.partialclone)$`
    const names = await config('--name-only', '--get-regexp', setting).catch(() => Buffer.of())
    for (const name of new Set(names.toString().split('\n').filter(Boolean)))
      await config('--unset-all', name)
    return await readFile(file)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
