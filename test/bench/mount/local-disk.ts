import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { median } from '../table.ts'
import { drain } from './drain.ts'
import { type Ground, rounds } from './ground.ts'
import { settleDisk } from './programs.ts'
import { type Aim, type Result, wants } from './result.ts'
import { changedFiles, makeProject, makeRepository, needle, npmInstall } from './sources.ts'

/** One thing that people do in a directory. */
export interface Work {
  readonly name: string
  readonly work: string
  readonly aim: Aim
  readonly command: readonly [string, ...string[]]
  /** Where, below the directory of the round. */
  readonly within?: string
  /** Not measured. */
  readonly prepare?: (directory: string) => void
  /** It changes nothing, so it is done twice to warm up, and then several times. */
  readonly isWarm?: boolean
}

interface Times {
  readonly local: number[]
  readonly mount: number[]
  readonly drains: number[]
}

const warmUps = 2
const warmTimes = 5

export const localDiskNames: readonly string[] = [
  'clone',
  'drain',
  'status',
  'grep',
  'checkout',
  'rm',
  'tar',
  'npm',
]

/** What people do, on the mount and on the disk that the server uses itself, one after the other. */
export async function benchLocalDisk(ground: Ground): Promise<Result[]> {
  if (!wants(...localDiskNames)) return []
  const { works, skipped } = chooseWorks(ground)
  const times = new Map<Work, Times>(
    works.map((work) => [work, { local: [], mount: [], drains: [] }]),
  )
  for (let round = 0; round < rounds; round++) {
    for (const [work, { local, mount, drains }] of times) {
      local.push(...(await measureWork(ground, work, join(ground.local, `round-${round}`))))
      mount.push(...(await measureWork(ground, work, ground.mount.path(`round-${round}`))))
      drains.push(await drain(ground.mount))
    }
    for (const directory of [ground.local, ground.mount.directory])
      rmSync(join(directory, `round-${round}`), { recursive: true })
    await drain(ground.mount)
  }
  return [...[...times].flatMap(toResults), ...skipped]
}

/** Those that are asked for. */
export function chooseWorks(ground: Ground): { works: Work[]; skipped: Result[] } {
  const works: Work[] = []
  const skipped: Result[] = []
  if (wants('npm'))
    try {
      works.push(npmWork(ground))
    } catch (error) {
      const reason = `npm cannot install offline: ${String(error).split('\n')[0]}`
      skipped.push({ name: 'npm', work: 'npm install', unit: 's', skipped: reason })
    }
  // Last, because they end with a deletion.
  if (wants('clone', 'drain', 'status', 'grep', 'checkout', 'rm', 'tar'))
    works.push(...worksWithRepository(ground))
  return { works, skipped }
}

/** All but `tar` work on the clone: it is made even if its figure is not wanted. */
function worksWithRepository(ground: Ground): Work[] {
  const { url, tarball } = makeRepository(ground)
  const onClone: Work[] = [
    {
      name: 'clone',
      work: 'git clone, 5.5k files',
      aim: { atMost: 1.6 },
      command: ['git', 'clone', '-q', url, 'clone'],
    },
    {
      name: 'status',
      work: 'git status, warm',
      aim: { atMost: 1.2 },
      command: ['git', 'status', '--porcelain'],
      within: 'clone',
      isWarm: true,
    },
    {
      name: 'grep',
      work: 'grep -r, warm',
      aim: { atMost: 1.2 },
      command: ['grep', '-rF', '--exclude-dir=.git', needle, '.'],
      within: 'clone',
      isWarm: true,
    },
    {
      name: 'checkout',
      work: `git checkout, ${changedFiles / 1000}k files`,
      aim: { atMost: 1.4 },
      command: ['git', 'checkout', '-q', 'origin/before'],
      within: 'clone',
    },
    {
      name: 'rm',
      work: 'rm -rf of the clone',
      aim: { atMost: 2 },
      command: ['rm', '-rf', 'clone'],
    },
  ]
  const tar: Work = {
    name: 'tar',
    work: 'tar x, 5.5k files',
    aim: { atMost: 4.5 },
    command: ['tar', 'xf', tarball],
    within: 'tar',
    prepare: (directory) => mkdirSync(directory),
  }
  const needsClone = wants('drain', ...onClone.map(({ name }) => name))
  return [
    ...(wants('tar') ? [tar] : []),
    ...(needsClone ? onClone.filter(({ name }) => name === 'clone' || wants(name)) : []),
  ]
}

function npmWork(ground: Ground): Work {
  const project = makeProject(ground)
  return {
    name: 'npm',
    work: 'npm install, warm cache, 6k files',
    aim: { atMost: 1.2 },
    command: npmInstall(ground.sources),
    within: 'npm',
    prepare(directory) {
      mkdirSync(directory)
      for (const name of ['package.json', 'package-lock.json'])
        cpSync(join(project, name), join(directory, name))
    },
  }
}

/** The seconds of each time it was done. */
export async function measureWork(
  ground: Ground,
  work: Work,
  directory: string,
): Promise<number[]> {
  const { client, env } = ground
  const cwd = join(directory, work.within ?? '.')
  mkdirSync(directory, { recursive: true })
  work.prepare?.(cwd)
  await drain(ground.mount)
  await settleDisk(ground.local)
  const run = (): Promise<number> => client.seconds(['run', ...work.command], { cwd, env })
  if (!work.isWarm) return [await run()]
  for (let i = 0; i < warmUps; i++) await run()
  const times: number[] = []
  for (let i = 0; i < warmTimes; i++) times.push(await run())
  return times
}

function toResults([{ name, work, aim }, { local, mount, drains }]: [Work, Times]): Result[] {
  const measured = median(mount)
  const drainSeconds = median(drains)
  const result: Result = {
    name,
    work,
    unit: 's',
    measured,
    yardstick: median(local),
    drainSeconds,
    aim,
  }
  const afterClone: Result = {
    name: 'drain',
    work: 'drain after the clone, of its own time',
    unit: 's',
    measured: drainSeconds,
    yardstick: measured,
    aim: { atMost: 1 },
  }
  return name === 'clone' ? [result, afterClone] : [result]
}
