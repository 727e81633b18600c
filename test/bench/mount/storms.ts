import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { median } from '../table.ts'
import { drain } from './drain.ts'
import { type Ground, rounds } from './ground.ts'
import { MemoryFs } from './memory-fs.ts'
import { settleDisk } from './programs.ts'
import { type Result, wants } from './result.ts'

const count = 5000

/** In the order in which they are done: what is unlinked was created. */
export const storms = [
  { name: 'create', work: 'create, write 4 KiB, close', directory: 'files' },
  { name: 'unlink', work: 'unlink', directory: 'files' },
  { name: 'mkdir', work: 'mkdir', directory: 'directories' },
] as const

export const stormNames: readonly string[] = storms.map(({ name }) => name)

/** Many small calls, each of which must ask the daemon: beside one in C that has nothing else to do. */
export async function benchStorms(ground: Ground): Promise<Result[]> {
  if (!wants(...stormNames)) return []
  const built = MemoryFs.build(ground.sources)
  if ('missing' in built)
    return storms.map(({ name, work }) => ({ name, work, unit: '/s', skipped: built.missing }))
  const times = storms.map((storm) => ({
    storm,
    memory: [] as number[],
    mount: [] as number[],
    drains: [] as number[],
  }))
  for (let round = 0; round < rounds; round++) {
    const yardstick = await MemoryFs.open(built.program, ground.sources)
    const mounted = ground.mount.path(`storm-${round}`)
    try {
      for (const root of [yardstick.directory, mounted])
        for (const name of ['files', 'directories'])
          mkdirSync(join(root, name), { recursive: true })
      for (const { storm, memory, mount, drains } of times) {
        await drain(ground.mount)
        await settleDisk(ground.local)
        memory.push(await rateOfStorm(ground, storm, yardstick.directory))
        mount.push(await rateOfStorm(ground, storm, mounted))
        drains.push(await drain(ground.mount))
      }
    } finally {
      await yardstick.close()
    }
  }
  return times
    .filter(({ storm }) => wants(storm.name))
    .map(({ storm: { name, work }, memory, mount, drains }) => ({
      name,
      work,
      unit: '/s',
      measured: median(mount),
      yardstick: median(memory),
      drainSeconds: median(drains),
      aim: { atLeast: 0.7 },
    }))
}

/** Per second. */
export async function rateOfStorm(
  { client }: Ground,
  { name, directory }: (typeof storms)[number],
  root: string,
): Promise<number> {
  return count / (await client.seconds([name, join(root, directory), String(count)]))
}
