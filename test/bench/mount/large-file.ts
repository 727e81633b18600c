import { execFileSync } from 'node:child_process'
import { closeSync, copyFileSync, existsSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { median } from '../table.ts'
import { drain } from './drain.ts'
import { type Ground, rounds } from './ground.ts'
import { settleDisk } from './programs.ts'
import { type Result, wants } from './result.ts'

const mebibytes = Number(process.env['CAIRN_BENCH_MIB'] ?? 1024)

export const largeFileNames: readonly string[] = ['read', 'read-dropped', 'copy']

/** One large file: copied in, then read from the kernel's memory, then after the kernel has forgotten it. */
export async function benchLargeFile(ground: Ground): Promise<Result[]> {
  if (!wants(...largeFileNames)) return []
  const local = join(ground.local, 'large')
  const mount = ground.mount.path('large')
  makeFile(local)
  await settleDisk(ground.local)
  const begin = performance.now()
  copyFileSync(local, mount)
  const copied = rate((performance.now() - begin) / 1000)
  const drainSeconds = await drain(ground.mount)
  const [warm, warmLocal] = await readBoth(ground, mount, local, () => {})
  const [dropped, droppedLocal] = await readBoth(ground, mount, local, dropFromMemory)
  for (const path of [local, mount]) rmSync(path)
  const row = (name: string, work: string, measured: number, yardstick?: number): Result => ({
    name,
    work: `${work}, ${mebibytes} MiB`,
    unit: 'MB/s',
    measured,
    ...(yardstick === undefined ? {} : { yardstick }),
  })
  return [
    { ...row('read', 'sequential read, cached', warm, warmLocal), aim: { atLeast: 0.4 } },
    row('read-dropped', 'the same, not in the kernel’s memory', dropped, droppedLocal),
    { ...row('copy', 'copied into the mount', copied), drainSeconds },
  ].filter(({ name }) => wants(name))
}

export interface LargeFileRates {
  readonly copied: number
  readonly cached: number
  readonly dropped: number
}

/** The same of one directory. */
export async function measureLargeFile(ground: Ground, directory: string): Promise<LargeFileRates> {
  const source = join(ground.sources, 'large')
  const path = join(directory, 'large')
  if (!existsSync(source)) makeFile(source)
  await settleDisk(ground.local)
  const begin = performance.now()
  copyFileSync(source, path)
  const copied = rate((performance.now() - begin) / 1000)
  await drain(ground.mount)
  const read = async (): Promise<number> => rate(await ground.client.seconds(['read', path]))
  await read()
  const cached = await read()
  dropFromMemory(path)
  const dropped = await read()
  rmSync(path)
  return { copied, cached, dropped }
}

async function readBoth(
  { client }: Ground,
  mount: string,
  local: string,
  prepare: (path: string) => void,
): Promise<[number, number]> {
  const read = async (path: string): Promise<number> => {
    prepare(path)
    return rate(await client.seconds(['read', path]))
  }
  for (const path of [local, mount]) await client.seconds(['read', path])
  const rates: [number, number][] = []
  for (let round = 0; round < rounds; round++) rates.push([await read(mount), await read(local)])
  return [median(rates.map(([first]) => first)), median(rates.map(([, second]) => second))]
}

function rate(seconds: number): number {
  return (mebibytes * 2 ** 20) / 1e6 / seconds
}

function dropFromMemory(path: string): void {
  execFileSync('dd', [`if=${path}`, 'iflag=nocache', 'count=0', 'status=none'])
}

/** Half of it compresses, and no part of it is there twice. */
function makeFile(path: string): void {
  const block = Buffer.alloc(1 << 20)
  for (let i = 0; i < block.length; i++) block[i] = i % 2 === 0 ? (i * 2654435761) >>> 9 : 32
  const fd = openSync(path, 'w')
  for (let i = 0; i < mebibytes; i++) {
    for (let at = 0; at < block.length; at += 1024) block.writeUInt32LE(i, at)
    writeSync(fd, block)
  }
  closeSync(fd)
}
