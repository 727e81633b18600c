import { createHash } from 'node:crypto'
import type { Sandbox } from '@cairn/sandbox'
import { forEachParallel, exactPathOf, type Workspace } from '@cairn/sdk'

/** Every path below a directory with its kind, mode and content: equal trees are equal byte for byte. */
export type Tree = ReadonlyMap<string, string>

/** Three texts for each entry, then, after an empty one, hash and path of each file; all of them end with a NUL. */
const script = `set -o pipefail
find . -mindepth 1 -printf '%y %m\\0%P\\0%l\\0' && printf '\\0' &&
find . -type f -print0 | xargs -0 -r sha256sum -z --`

/**
 * Where the path begins in a line of sha256sum: after the hash, two characters that say how it was
 * read, and `./`.
 */
const pathStart = 68

/** As programs in a sandbox see it, by reading all of it. */
export async function readTreeInside(sandbox: Sandbox): Promise<Tree> {
  const { code, stdout, stderr } = await sandbox.exec(script)
  if (code !== 0) throw new Error(`cannot read the workspace in the sandbox: ${stderr.trim()}`)
  const texts = stdout.split('\0')
  const end = texts.findIndex((text, index) => index % 3 === 0 && text === '')
  const sums = new Map(
    texts.slice(end + 1).map((line) => [line.slice(pathStart), line.slice(0, 64)]),
  )
  const tree = new Map<string, string>()
  for (let at = 0; at < end; at += 3) {
    const [what, path, target] = texts.slice(at, at + 3) as [string, string, string]
    tree.set(path, `${what} ${sums.get(path) ?? target}`.trimEnd())
  }
  return tree
}

const letters: Readonly<Record<string, string>> = { file: 'f', directory: 'd', symlink: 'l' }

/** As the server has it, without a mount. */
export async function readTreeOutside({ files }: Workspace): Promise<Tree> {
  const tree = new Map<string, string>()
  await forEachParallel(files.walk('/'), 8, async (entry, signal) => {
    const what = `${letters[entry.kind] ?? entry.kind} ${Number.parseInt(entry.mode, 8).toString(8)}`
    const content =
      entry.kind === 'file'
        ? sha256(await files.read(exactPathOf(entry), { signal }))
        : (entry.target ?? '')
    tree.set(entry.path.slice(1), `${what} ${content}`.trimEnd())
  })
  return tree
}

/** One hash for all of it. */
export function hashTree(tree: Tree): string {
  const lines = [...tree].map(([path, what]) => `${what}\0${path}`).toSorted()
  return sha256(Buffer.from(lines.join('\n')))
}

/** A line for each path that is not the same in both. */
export function compareTrees(before: Tree, after: Tree): string[] {
  const paths = new Set([...before.keys(), ...after.keys()])
  return [...paths].toSorted().flatMap((path) => {
    const [was, is] = [before.get(path), after.get(path)]
    return was === is ? [] : [`${path}: was ${was ?? 'not there'}, is ${is ?? 'not there'}`]
  })
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
