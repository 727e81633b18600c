import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { noMount } from '../mount/fixture.ts'
import { Ground } from './mount/ground.ts'
import { largeFileNames, type LargeFileRates, measureLargeFile } from './mount/large-file.ts'
import { chooseWorks, localDiskNames, measureWork } from './mount/local-disk.ts'
import { unknownNames, wants } from './mount/result.ts'
import { spreadChildren } from './mount/spread.ts'
import { rateOfStorm, stormNames, storms } from './mount/storms.ts'
import {
  openAgentfs,
  openDisk,
  openDrive9,
  openJuicefs,
  openOverlay,
  type OpenPlace,
  type Place,
} from './peers/place.ts'
import { median, printTable, type Row } from './table.ts'

/** The disk comes first: all others are compared with it. */
const openers: readonly OpenPlace[] = [openDisk, openOverlay, openJuicefs, openDrive9, openAgentfs]
const rounds = Number(process.env['CAIRN_BENCH_ROUNDS'] ?? 1)

/** One row: what was measured in each place, in the order of the places. */
interface Measured {
  readonly work: string
  readonly unit: 's' | '/s' | 'MB/s'
  readonly figures: number[]
}

/** The works of `bench -- mount`, in Cairn and in what else this machine has. Installs nothing. */
export async function benchPeers(): Promise<void> {
  const names = [...localDiskNames, ...stormNames, ...largeFileNames]
  const unknown = unknownNames(names)
  if (unknown.length > 0) {
    console.error(`peers: no row is called ${unknown.join(', ')}. There are: ${names.join(', ')}`)
    process.exitCode = 2
    return
  }
  if (noMount !== undefined) return console.error(`peers: skipped, ${noMount}`)
  const directory = mkdtempSync(join(tmpdir(), 'cairn-bench-'))
  spreadChildren(directory)
  process.env['TMPDIR'] = directory
  const ground = await Ground.open()
  const places = [...openPlaces(directory), cairnOf(ground)]
  try {
    const measured = [
      ...(await measureWorks(ground, places)),
      ...(await measureStorms(ground, places)),
      ...(await measureFiles(ground, places)),
    ]
    printTable(
      `peers: by ${rounds === 1 ? 'one round' : `${rounds} rounds`}, × is the ratio to the disk`,
      places.map(({ name }) => name),
      measured.map(toRow),
    )
    for (const { name, version } of places) console.log(`${name}: ${version}`)
    console.log(`load ${loadavg()[0]!.toFixed(1)} after`)
  } finally {
    for (const place of places) place.close()
    await ground.site.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

function openPlaces(directory: string): Place[] {
  return openers.flatMap((open, index) => {
    const own = join(directory, `place-${index}`)
    mkdirSync(own)
    const found = open(own)
    if (!('skipped' in found)) return [found]
    console.log(`${found.name}: skipped, ${found.skipped}`)
    return []
  })
}

function cairnOf({ mount }: Ground): Place {
  const version = `from these sources, on Node ${process.versions.node}`
  return { name: 'Cairn', version, directory: mount.directory, close: () => undefined }
}

async function measureWorks(ground: Ground, places: readonly Place[]): Promise<Measured[]> {
  if (!wants(...localDiskNames)) return []
  const { works } = chooseWorks(ground)
  const times = works.map(() => places.map((): number[] => []))
  for (let round = 0; round < rounds; round++) {
    for (const [row, work] of works.entries())
      for (const [column, { directory }] of places.entries())
        times[row]![column]!.push(
          ...(await measureWork(ground, work, join(directory, `round-${round}`))),
        )
    for (const { directory } of places)
      rmSync(join(directory, `round-${round}`), { recursive: true })
  }
  return works
    .map(({ work, name }, row) => ({
      name,
      work,
      unit: 's' as const,
      figures: times[row]!.map(median),
    }))
    .filter(({ name }) => wants(name))
}

async function measureStorms(ground: Ground, places: readonly Place[]): Promise<Measured[]> {
  const measured: Measured[] = []
  for (const storm of storms) {
    if (!wants(...stormNames)) continue
    const figures: number[] = []
    for (const { directory } of places) {
      mkdirSync(join(directory, 'storm', storm.directory), { recursive: true })
      figures.push(await rateOfStorm(ground, storm, join(directory, 'storm')))
    }
    if (wants(storm.name)) measured.push({ work: storm.work, unit: '/s', figures })
  }
  return measured
}

async function measureFiles(ground: Ground, places: readonly Place[]): Promise<Measured[]> {
  if (!wants(...largeFileNames)) return []
  const rates: LargeFileRates[] = []
  for (const { directory } of places) rates.push(await measureLargeFile(ground, directory))
  return (['copied', 'cached', 'dropped'] as const).map((what) => ({
    work: `a large file, ${what}`,
    unit: 'MB/s',
    figures: rates.map((each) => each[what]),
  }))
}

function toRow({ work, unit, figures }: Measured): Row {
  const disk = figures[0]!
  const digits = unit === 's' ? 2 : 0
  return {
    work: `${work}, ${unit}`,
    figures: figures.map((each, index) =>
      index === 0
        ? each.toFixed(digits)
        : `${each.toFixed(digits)} (${(each / disk).toFixed(2)} ×)`,
    ),
  }
}
