import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Cairn } from '@cairn/sdk'
import { Site, type SiteMount } from '../../mount/fixture.ts'
import { median } from '../table.ts'
import { Bundle } from './bundle.ts'
import { rounds } from './ground.ts'
import { MemoryFs } from './memory-fs.ts'
import { Client } from './programs.ts'
import { type Result, wants } from './result.ts'

const filesPerDirectory = 1000
const directories = Math.ceil(
  Number(process.env['CAIRN_BENCH_FILES'] ?? 100_000) / filesPerDirectory,
)
const files = directories * filesPerDirectory
const statDirectories = Math.min(10, directories)
const statFiles = filesPerDirectory - 1
const batchesAtOnce = 4
const idleSeconds = 3
/** During the first ones the server still has to do with what it was just filled with. */
const coldRounds = 9

/** A walk of all that there is, by programs that see it for the first time. */
const walks = [
  { name: 'find', command: 'find . | wc -l', aimSeconds: 0.6 },
  { name: 'ls', command: 'ls -lU * | wc -l', aimSeconds: 1.2 },
] as const

export const largeWorkspaceNames: readonly string[] = [
  'cold',
  ...walks.map(({ name }) => name),
  'stat',
  'memory',
  'idle',
]

/** A workspace of many files, and mounts that have seen nothing of it yet. */
export async function benchLargeWorkspace(): Promise<Result[]> {
  if (!wants(...largeWorkspaceNames)) return []
  const directory = mkdtempSync(join(tmpdir(), 'cairn-bench-'))
  const site = await Site.open()
  try {
    await fill(site)
    return [
      ...(wants('cold') ? [await benchCold(site, directory)] : []),
      ...(await benchWalks(site)),
      ...(wants('stat') ? [await benchStat(site, directory)] : []),
      ...(wants('memory', 'idle') ? await benchKnowing(site) : []),
    ]
  } finally {
    await site.close()
    rmSync(directory, { recursive: true })
  }
}

async function fill({ url, key }: Site): Promise<void> {
  const workspace = new Cairn({ server: url, apiKey: key }).workspace('demo')
  const left = Array.from({ length: directories }, (_, i) => i)
  const fillNext = async (): Promise<void> => {
    for (let d = left.pop(); d !== undefined; d = left.pop()) {
      await workspace.batch([{ op: 'mkdir', path: `/d${d}` }])
      await workspace.batch(
        Array.from({ length: filesPerDirectory }, (_, f) => ({
          op: 'write',
          path: `/d${d}/f${f}`,
          text: `file ${f} of ${d}\n`,
        })),
      )
    }
  }
  await Promise.all(Array.from({ length: batchesAtOnce }, fillNext))
}

/** From the start of the command, by the program that users have, until a program has read a file. */
async function benchCold(site: Site, directory: string): Promise<Result> {
  const work = `cold mount to the first byte, ${files / 1000}k files`
  const bundle = Bundle.build(directory, site)
  const times: number[] = []
  for (let round = 0; round < coldRounds; round++) {
    const place = join(directory, `cold-${round}`)
    const begin = performance.now()
    bundle.run('mount', ':/', place)
    try {
      readFileSync(join(place, `d${directories >> 1}`, 'f500'))
      times.push(performance.now() - begin)
    } finally {
      bundle.run('umount', place)
    }
  }
  return { name: 'cold', work, unit: 'ms', measured: median(times), aim: { atMost: 300 } }
}

/** A new mount each time: neither it nor its kernel knows a name. */
async function benchWalks(site: Site): Promise<Result[]> {
  const results: Result[] = []
  for (const { name, command, aimSeconds } of walks) {
    if (!wants(name)) continue
    const times: number[] = []
    for (let round = 0; round < rounds; round++) {
      const mount = await site.mount('/')
      const begin = performance.now()
      await mount.sh(command)
      times.push((performance.now() - begin) / 1000)
      await mount.unmount()
    }
    const work = `cold ${command}, ${files / 1000}k files`
    results.push({ name, work, unit: 's', measured: median(times), aim: { atMost: aimSeconds } })
  }
  return results
}

/** A new mount each time: its kernel knows no name. */
async function benchStat(site: Site, directory: string): Promise<Result> {
  const work = 'stat, unknown to the kernel'
  const built = MemoryFs.build(directory)
  if ('missing' in built) return { name: 'stat', work, unit: '/s', skipped: built.missing }
  const client = new Client(directory)
  const rate = async (root: string): Promise<number> => {
    const args = ['stat', root, String(statDirectories), String(statFiles)]
    return (statDirectories * statFiles) / (await client.seconds(args))
  }
  const memory: number[] = []
  const mount: number[] = []
  for (let round = 0; round < rounds; round++) {
    const fill = [statDirectories, filesPerDirectory] as const
    const yardstick = await MemoryFs.open(built.program, directory, fill)
    const mounted = await site.mount('/')
    try {
      // Its supervisor loads once it is usable; here from sources, which takes a while.
      await mounted.status()
      memory.push(await rate(yardstick.directory))
      mount.push(await rate(mounted.directory))
    } finally {
      await yardstick.close()
      await mounted.unmount()
    }
  }
  const [measured, yardstick] = [median(mount), median(memory)]
  return { name: 'stat', work, unit: '/s', measured, yardstick, aim: { atLeast: 0.7 } }
}

/** What the daemon needs when it knows every file, and when no program asks it anything. */
async function benchKnowing(site: Site): Promise<Result[]> {
  const mount: SiteMount = await site.mount('/')
  const { pid } = await mount.status()
  const found = await mount.sh('find . -type f | wc -l')
  if (Number(found) !== files) throw new Error(`the mount shows ${found} of ${files} files`)
  const memory = residentBytes(pid) / 1e6
  await setTimeout(1000)
  const before = cpuSeconds(pid)
  await setTimeout(idleSeconds * 1000)
  const busy = ((cpuSeconds(pid) - before) / idleSeconds) * 100
  const results: Result[] = [
    {
      name: 'memory',
      work: `memory of a daemon after a walk of ${files / 1000}k files`,
      unit: 'MB',
      measured: memory,
      aim: { atMost: 200 },
    },
    { name: 'idle', work: 'CPU of an idle daemon', unit: '%', measured: busy, aim: { atMost: 1 } },
  ]
  return results.filter(({ name }) => wants(name))
}

function residentBytes(pid: number): number {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))
  return Number(line![1]) * 1024
}

function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]!.split(' ')
  const ticks = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))
  return (Number(fields[11]) + Number(fields[12])) / ticks
}
