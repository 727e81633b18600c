import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { Random } from './step.ts'

const identity = ['-c', 'user.name=n', '-c', 'user.email=n@example.org']
const safe = ['-c', 'safe.directory=*', '-c', 'protocol.file.allow=always', ...identity]

export function git(cwd: string, ...args: string[]): string {
  return execFileSync('git', [...safe, ...args], { cwd, encoding: 'utf8', stdio: 'pipe' })
}

/** Paths of a working tree: what is there, and some that may not be. */
function paths(repository: string): readonly string[] {
  const found = readdirSync(repository, { recursive: true, encoding: 'utf8' })
  return found.filter((path) => path !== '.git' && !path.startsWith('.git/'))
}

const names = ['1', '2', 'new', '.gitignore', 'a', 'c/moved', 'a/b', 'd/e/f', 'with space/x']
const refs = ['v1', 'main', 'HEAD~1']

type Edit = (repository: string, path: string, other: string, fill: string) => void

function isDirectory(path: string): boolean {
  return existsSync(path) && lstatSync(path).isDirectory()
}

const edits: Readonly<Record<string, Edit>> = {
  write: (at, path, _, fill) => {
    mkdirSync(dirname(join(at, path)), { recursive: true })
    writeFileSync(join(at, path), `${fill}\n`)
  },
  append: (at, path, _, fill) => appendFileSync(join(at, path), fill),
  remove: (at, path) => rmSync(join(at, path), { recursive: true }),
  mkdir: (at, path) => void mkdirSync(join(at, path), { recursive: true }),
  rename: (at, path, other) => renameSync(join(at, path), join(at, other)),
  chmod: (at, path) => chmodSync(join(at, path), isDirectory(join(at, path)) ? 0o700 : 0o755),
  link: (at, path, other) => linkSync(join(at, path), join(at, other)),
  symlink: (at, path, other) => symlinkSync(path, join(at, other)),
  add: (at, path) => void git(at, 'add', '--', path),
  // So often that it takes part in most walks.
  checkout: (at, _, __, fill) => void git(at, 'checkout', '-q', '-f', refs[fill.length % 3]!),
  reset: (at) => void git(at, 'reset', '-q', '--hard'),
  clean: (at) => void git(at, 'clean', '-q', '-fd'),
  stash: (at) => void git(at, 'stash', '-u'),
  pop: (at) => void git(at, 'stash', 'pop'),
  commit: (at) => void git(at, 'commit', '-q', '-a', '-m', 'c'),
  restore: (at, path) => void git(at, 'checkout', '-q', '--', path),
}
const kinds = Object.keys(edits)

/** One change of a working tree. Gives what was done, also where that failed. */
export function randomEdit(repository: string, random: Random): string {
  const there = paths(repository)
  const pick = (): string => random.one(random.below(3) > 0 && there.length > 0 ? there : names)
  const kind = random.one(kinds)
  const [path, other, fill] = [pick(), pick(), 'x'.repeat(1 + random.below(6))]
  try {
    edits[kind]!(repository, path, other, fill)
    return `${kind} ${path} ${other}`
  } catch {
    return `${kind} ${path} ${other} failed`
  }
}
