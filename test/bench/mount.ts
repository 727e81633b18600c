import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { noMount } from '../mount/fixture.ts'
import { Ground } from './mount/ground.ts'
import { benchLargeFile, largeFileNames } from './mount/large-file.ts'
import { benchLargeWorkspace, largeWorkspaceNames } from './mount/large-workspace.ts'
import { benchLocalDisk, localDiskNames } from './mount/local-disk.ts'
import { benchPrefetched, prefetchedNames } from './mount/prefetched.ts'
import { printResults, type Result, unknownNames, wants, writeResults } from './mount/result.ts'
import { spreadChildren } from './mount/spread.ts'
import { benchStorms, stormNames } from './mount/storms.ts'
import { benchVisibility, visibilityNames } from './mount/visibility.ts'

/** On the same ground, so that they come to a daemon that has been working for a while. */
const onGround: readonly (readonly [
  names: readonly string[],
  bench: (ground: Ground) => Promise<Result[]>,
])[] = [
  [localDiskNames, benchLocalDisk],
  [stormNames, benchStorms],
  [largeFileNames, benchLargeFile],
  [visibilityNames, benchVisibility],
]

/** CAIRN_BENCH_ONLY=clone,drain measures only those. */
export async function benchMount(): Promise<void> {
  const names = [...onGround.flatMap(([list]) => list), ...largeWorkspaceNames, ...prefetchedNames]
  const unknown = unknownNames(names)
  if (unknown.length > 0) {
    console.error(`mount: no row is called ${unknown.join(', ')}. There are: ${names.join(', ')}`)
    process.exitCode = 2
    return
  }
  if (noMount !== undefined) return console.error(`mount: skipped, ${noMount}`)
  // Mounts keep their state below their own homes, where the benchmark looks for it.
  delete process.env['XDG_CACHE_HOME']
  const load = loadavg()
  const results = await inOwnDirectory(async () => [
    ...(await benchOnGround()),
    ...(await timed(benchLargeWorkspace)),
    ...(await timed(benchPrefetched)),
  ])
  const chosen = results.filter(({ name }) => wants(name))
  printResults(
    'mount: beside the local disk and a file system in C, server on the same machine',
    chosen,
  )
  console.log(`load ${load[0]!.toFixed(1)} before, ${loadavg()[0]!.toFixed(1)} after`)
  console.log(`written to ${writeResults(load, chosen)}`)
}

/** Everything temporary lies below it: the server's data too. */
async function inOwnDirectory<Result>(work: () => Promise<Result>): Promise<Result> {
  const directory = mkdtempSync(join(tmpdir(), 'cairn-bench-'))
  spreadChildren(directory)
  process.env['TMPDIR'] = directory
  try {
    return await work()
  } finally {
    rmSync(directory, { recursive: true })
  }
}

async function benchOnGround(): Promise<Result[]> {
  if (!onGround.some(([names]) => wants(...names))) return []
  const ground = await Ground.open()
  try {
    const results: Result[] = []
    for (const [, bench] of onGround) results.push(...(await timed(bench, ground)))
    return results
  } finally {
    await ground.site.close()
  }
}

async function timed<Args extends unknown[]>(
  bench: (...args: Args) => Promise<Result[]>,
  ...args: Args
): Promise<Result[]> {
  const begin = performance.now()
  const results = await bench(...args)
  const seconds = (performance.now() - begin) / 1000
  if (results.length > 0) console.error(`mount: ${bench.name} took ${seconds.toFixed(0)} s`)
  return results
}
