import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Entry, Manifest } from '@openai/agents/sandbox'
import { shellQuote } from '@cairn/protocol'
import type { Sandbox } from '@cairn/sandbox'
import { writeFile } from '../exec/files.ts'

/** Nothing of a manifest is left out silently. */
function requireSupported(manifest: Manifest): void {
  if (manifest.users.length > 0 || manifest.groups.length > 0)
    refuse('users and groups', 'commands run as the user of the machine. Leave them out')
  if (manifest.extraPathGrants.length > 0)
    refuse('extraPathGrants', 'the machine decides that. Give `allowPaths` to LocalSandbox')
  for (const { entry, logicalPath } of manifest.iterEntries()) requireEntry(logicalPath, entry)
}

function requireEntry(path: string, entry: Entry): void {
  if (entry.group !== undefined || entry.permissions !== undefined)
    refuse(`permissions of ${path}`, 'files belong to the user of the machine. Run chmod')
  if (entry.type === 'git_repo') refuse(path, 'a repository is cloned by a command: git clone')
  if (!['dir', 'file', 'local_file', 'local_dir'].includes(entry.type))
    refuse(path, 'the workspace is the only mount. Leave the entry out')
}

function refuse(what: string, why: string): never {
  throw new Error(`cannot use ${what} of the manifest: ${why}.`)
}

/** Makes what a manifest describes, in the workspace. */
export async function writeManifest(sandbox: Sandbox, manifest: Manifest): Promise<void> {
  requireSupported(manifest)
  for (const [path, entry] of Object.entries(manifest.entries))
    await writeEntry(sandbox, path, entry)
}

export async function writeEntry(sandbox: Sandbox, path: string, entry: Entry): Promise<void> {
  requireEntry(path, entry)
  if (entry.type === 'file') await writeFile(sandbox, path, entry.content)
  else if (entry.type === 'local_file') await writeFile(sandbox, path, await readFile(entry.src))
  else if (entry.type === 'local_dir') await copyDirectory(sandbox, path, entry.src)
  else if (entry.type === 'dir') {
    await makeDirectory(sandbox, path)
    for (const [name, child] of Object.entries(entry.children ?? {}))
      await writeEntry(sandbox, join(path, name), child)
  }
}

async function copyDirectory(sandbox: Sandbox, path: string, source: string): Promise<void> {
  await makeDirectory(sandbox, path)
  for (const entry of await readdir(source, { withFileTypes: true })) {
    const [to, from] = [join(path, entry.name), join(source, entry.name)]
    if (entry.isDirectory()) await copyDirectory(sandbox, to, from)
    else if (entry.isFile()) await writeFile(sandbox, to, await readFile(from))
  }
}

async function makeDirectory(sandbox: Sandbox, path: string): Promise<void> {
  const { code, stderr } = await sandbox.exec(`mkdir -p ${shellQuote(sandbox.fs.resolve(path))}`)
  if (code !== 0) throw new Error(`cannot make the directory ${path}: ${stderr.trim()}`)
}
