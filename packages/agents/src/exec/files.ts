import { posix } from 'node:path'
import type { Sandbox } from '@cairn/sandbox'
import { shellQuote } from '@cairn/protocol'
import { currentToolCall } from '../tool-call.ts'

export interface PathFacts {
  readonly kind: 'file' | 'directory' | 'symlink' | 'other'
  readonly size: number
  readonly mtimeMs: number
}

export interface NamedKind {
  readonly name: string
  readonly kind: PathFacts['kind']
}

const kinds: Readonly<Record<string, PathFacts['kind']>> = {
  f: 'file',
  d: 'directory',
  l: 'symlink',
}
const missingCode = 44

/** Where a path leads. Undefined: nothing is there. */
export async function lookAt(sandbox: Sandbox, path: string): Promise<PathFacts | undefined> {
  const found = await ask(sandbox, path, `find -L "$p" -maxdepth 0 -printf '%y %s %T@\\n'`)
  if (found === undefined) return undefined
  const [kind = '', size, seconds] = found.trim().split(' ')
  return { kind: kinds[kind] ?? 'other', size: Number(size), mtimeMs: Number(seconds) * 1000 }
}

/** What is in a directory, by name. Undefined: it is not there. */
export async function listKinds(sandbox: Sandbox, path: string): Promise<NamedKind[] | undefined> {
  const script = `[ -d "$p" ] || { echo "not a directory" >&2; exit 1; }
    find -H "$p" -mindepth 1 -maxdepth 1 -printf '%y%f\\0'`
  const found = await ask(sandbox, path, script)
  return found
    ?.split('\0')
    .filter((entry) => entry !== '')
    .map((entry) => ({ name: entry.slice(1), kind: kinds[entry[0]!] ?? 'other' }))
}

/** Removes a file, or a link itself. False: nothing was there. Rejects for a directory. */
export async function removeFile(sandbox: Sandbox, path: string): Promise<boolean> {
  return (await ask(sandbox, path, 'rm -- "$p"')) !== undefined
}

/** Makes missing parents. */
export async function writeFile(
  sandbox: Sandbox,
  path: string,
  content: string | Uint8Array,
): Promise<void> {
  await sandbox.fs.write(path, content, { toolCall: currentToolCall() })
}

/** Undefined: nothing is there. */
export async function readIfThere(sandbox: Sandbox, path: string): Promise<Uint8Array | undefined> {
  const facts = await lookAt(sandbox, path)
  return facts && sandbox.fs.readBytes(path)
}

async function ask(sandbox: Sandbox, path: string, script: string): Promise<string | undefined> {
  const whole = posix.normalize(sandbox.fs.resolve(path))
  const there = '[ -e "$p" ] || [ -L "$p" ]'
  const command = `p=${shellQuote(whole)}\n{ ${there}; } || exit ${missingCode}\n${script}`
  const { code, stdout, stderr } = await sandbox.exec(command, { toolCall: currentToolCall() })
  if (code === 0) return stdout
  if (code === missingCode) return undefined
  throw new Error(`cannot use ${path} in the sandbox: ${stderr.trim() || `ended with ${code}`}`)
}
