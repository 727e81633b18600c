import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Somewhere to work, made by one of the programs that are compared. */
export interface Place {
  readonly name: string
  /** As the program itself says it. */
  readonly version: string
  readonly directory: string
  readonly close: () => void
}

/** Where it cannot be made: why. */
export type FoundPlace = Place | { readonly name: string; readonly skipped: string }

/** Each makes its place below a directory of its own. */
export type OpenPlace = (directory: string) => FoundPlace

export const openDisk: OpenPlace = (directory) => ({
  name: 'disk',
  version: run('uname', ['-sr']),
  directory: makeDirectory(directory, 'work'),
  close: () => undefined,
})

export const openOverlay: OpenPlace = (directory) => {
  const name = 'overlayfs'
  const [lower, upper, work, merged] = ['lower', 'upper', 'internal', 'work'].map((each) =>
    makeDirectory(directory, each),
  ) as [string, string, string, string]
  const options = `lowerdir=${lower},upperdir=${upper},workdir=${work}`
  const mounted = spawnSync('mount', ['-t', 'overlay', 'overlay', '-o', options, merged])
  if (mounted.status !== 0) return { name, skipped: lastLine(mounted.stderr) }
  const close = (): void => unmount(merged)
  return { name, version: run('uname', ['-sr']), directory: merged, close }
}

/** With its metadata in SQLite and its objects in a directory: it needs no other program. */
export const openJuicefs: OpenPlace = (directory) => {
  const name = 'juicefs'
  if (!isInstalled(name)) return notInstalled(name)
  const metadata = `sqlite3://${join(directory, 'metadata.db')}`
  const objects = makeDirectory(directory, 'objects')
  const cache = makeDirectory(directory, 'cache')
  const place = makeDirectory(directory, 'work')
  const storage = ['--storage', 'file', '--bucket', `${objects}/`]
  return mounting(name, place, [
    [name, 'format', ...storage, metadata, 'bench'],
    [name, 'mount', '-d', '--no-usage-report', '--cache-dir', cache, metadata, place],
  ])
}

/** Its server is another program, so it must be running: `DRIVE9_SERVER` and `DRIVE9_API_KEY` name it. */
export const openDrive9: OpenPlace = (directory) => {
  const name = 'drive9'
  if (!isInstalled(name)) return notInstalled(name)
  if (!process.env['DRIVE9_SERVER'] || !process.env['DRIVE9_API_KEY'])
    return { name, skipped: 'DRIVE9_SERVER and DRIVE9_API_KEY name no server' }
  const place = makeDirectory(directory, 'work')
  return mounting(name, place, [[name, 'mount', ':/', place]])
}

export const openAgentfs: OpenPlace = (directory) => {
  const name = 'agentfs'
  if (!isInstalled(name)) return notInstalled(name)
  const place = makeDirectory(directory, 'work')
  return mounting(
    name,
    place,
    [
      [name, 'init', 'bench'],
      [name, 'mount', join(directory, '.agentfs', 'bench.db'), place],
    ],
    directory,
  )
}

type Words = readonly [file: string, ...args: string[]]

function mounting(name: string, place: string, commands: readonly Words[], cwd = '/'): FoundPlace {
  const before = statSync(place).dev
  for (const [file, ...args] of commands) {
    const { status, stderr, stdout } = spawnSync(file, args, { cwd, timeout: 60_000 })
    if (status !== 0)
      return { name, skipped: `${file} ${args[0]} failed: ${lastLine(stderr) || lastLine(stdout)}` }
  }
  if (statSync(place).dev === before) return { name, skipped: `${name} mounted nothing` }
  return { name, version: run(name, ['--version']), directory: place, close: () => unmount(place) }
}

function unmount(place: string): void {
  if (spawnSync('umount', [place]).status !== 0) spawnSync('umount', ['-l', place])
}

function makeDirectory(parent: string, name: string): string {
  const path = join(parent, name)
  mkdirSync(path, { recursive: true })
  return path
}

function isInstalled(program: string): boolean {
  return spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined
}

function notInstalled(name: string): FoundPlace {
  return { name, skipped: 'it is not installed' }
}

function run(file: string, args: readonly string[]): string {
  return execFileSync(file, args, { encoding: 'utf8' }).trim().split('\n')[0]!
}

function lastLine(text: Buffer): string {
  return text.toString().trim().split('\n').at(-1)!
}
