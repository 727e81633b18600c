import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Cli } from '../cli.ts'
import { openRemote, type WorkspaceValues } from '../remote/open.ts'

/**
 * What a warm start is found by: the bytes of the key files, the command, and the kind of machine, for which compiled
 * dependencies are made. A key file is local, or in the workspace as `:/path`.
 */
export async function warmKey(
  cli: Cli,
  values: WorkspaceValues,
  files: readonly string[],
  words: readonly string[],
): Promise<string> {
  const hash = createHash('sha256')
  const add = (part: string | Uint8Array): unknown => hash.update(`${part.length}:`).update(part)
  for (const word of [process.platform, process.arch, ...words]) add(word)
  for (const file of files) add(await readKeyFile(cli, values, file))
  return hash.digest('hex').slice(0, 20)
}

async function readKeyFile(cli: Cli, values: WorkspaceValues, file: string): Promise<Uint8Array> {
  if (!file.startsWith(':')) return readFileSync(file)
  const { files, path } = await openRemote(cli, values, file)
  return files.read(path, { signal: cli.signal })
}
