import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Ground } from './ground.ts'

const repositoryFiles = 5500
export const changedFiles = 2000
const filesPerDirectory = 8
const packages = 150
const filesPerPackage = 40

/** In one file of the repository and nowhere else. */
export const needle = 'a needle in the stack'

export interface Repository {
  /** Not a path: git would link or copy the pack instead of receiving it. */
  readonly url: string
  readonly tarball: string
}

/** Two commits, `origin/before` and `main`, that differ in many files. */
export function makeRepository({ sources, env }: Ground): Repository {
  const directory = join(sources, 'repository')
  const git = (...args: string[]): unknown =>
    execFileSync('git', ['-c', 'gc.auto=0', ...args], { cwd: directory, env })
  const write = (index: number, version: string): void => {
    const place = Math.floor(index / filesPerDirectory)
    const path = join(directory, `area-${place % 40}`, `part-${place}`, `file-${index}.ts`)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, makeText(index, 500 * 80 ** random(index)()) + version)
  }
  mkdirSync(directory)
  git('init', '-q', '-b', 'before')
  for (let i = 0; i < repositoryFiles; i++) write(i, i === 0 ? needle : '')
  git('add', '.')
  git('commit', '-qm', 'before')
  git('checkout', '-qb', 'main')
  for (let i = 1; i <= changedFiles; i++) write(i, 'changed\n')
  git('commit', '-qam', 'after')
  git('repack', '-adq')
  const tarball = join(sources, 'tree.tar')
  git('archive', '-o', tarball, 'main')
  return { url: pathToFileURL(directory).href, tarball }
}

/** A project whose dependencies are archives on the disk. Gives its directory: it is installed, so npm has seen all. */
export function makeProject({ sources, env }: Ground): string {
  const unpacked = join(sources, 'unpacked')
  const project = join(sources, 'project')
  const dependencies: Record<string, string> = {}
  mkdirSync(project)
  for (let i = 0; i < packages; i++) {
    const name = `package-${i}`
    const archive = join(sources, `${name}.tgz`)
    fillPackage(join(unpacked, 'package'), name, i)
    execFileSync('tar', ['czf', archive, '-C', unpacked, 'package'])
    rmSync(unpacked, { recursive: true })
    dependencies[name] = `file:${archive}`
  }
  const description = { name: 'project', version: '1.0.0', private: true, dependencies }
  writeFileSync(join(project, 'package.json'), JSON.stringify(description))
  execFileSync('npm', npmInstall(sources).slice(1), { cwd: project, env, stdio: 'ignore' })
  const installed = readdirSync(join(project, 'node_modules')).length
  if (installed < packages) throw new Error(`npm installed ${installed} of ${packages} packages`)
  return project
}

export function npmInstall(sources: string): readonly [string, ...string[]] {
  const quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--ignore-scripts']
  return ['npm', 'install', '--offline', ...quiet, '--cache', join(sources, 'npm-cache')]
}

function fillPackage(directory: string, name: string, seed: number): void {
  mkdirSync(join(directory, 'lib'), { recursive: true })
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ name, version: '1.0.0' }))
  for (let i = 1; i < filesPerPackage; i++)
    writeFileSync(
      join(directory, 'lib', `file-${i}.js`),
      makeText(seed * filesPerPackage + i, 4000),
    )
}

/** Numbers from 0 to 1 that are the same in every run. */
function random(seed: number): () => number {
  let state = (seed + 1) * 0x9e3779b1
  return () => {
    state = Math.imul(state ^ (state >>> 15), 0x85ebca6b) + 0x6d2b79f5
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32
  }
}

const words = Array.from({ length: 20_000 }, (_, i) => {
  const next = random(i * 7919)
  const letter = (): string => String.fromCharCode(97 + Math.floor(next() * 26))
  return Array.from({ length: 2 + (i % 9) }, letter).join('')
})

/** Lines of words, which compress as text does. */
function makeText(seed: number, bytes: number): string {
  const next = random(seed)
  const parts: string[] = []
  for (let length = 0, column = 0; length < bytes;) {
    const word = words[Math.floor(next() * words.length)]!
    column += word.length + 1
    length += word.length + 1
    parts.push(word, column > 80 ? '\n' : ' ')
    if (column > 80) column = 0
  }
  return `${parts.join('')}\n`
}
