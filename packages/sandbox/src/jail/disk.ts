import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { unmountImage } from './disk-image.ts'
import { runProgram } from './run-program.ts'
import type { JailBase } from './jail.ts'
import { hostPieces, makeSeed } from './seed.ts'
import { isRoot } from './users.ts'

/** A directory of the jail that is an overlay of its own: what it shows if nothing was written, top first. */
export interface JailOverlay {
  /** Its place in the jail: `/`, `/usr`. */
  readonly target: string
  readonly lowers: readonly string[]
}

/** What a snapshot's `snapshot.json` says. Its layers are in directories `0`, `1`, and so on; the last is on top. */
interface SnapshotRecord {
  readonly base: 'host' | { readonly rootfs: string }
  readonly layers: number
}

/** A jail's disk: a base that is only read, and what is written over it, which goes to one directory. */
export interface Disk {
  readonly pieces: readonly JailOverlay[]
  /** Holds `upper` and `work` of each piece in a directory named by `nameOf`. */
  readonly directory: string
  readonly record: SnapshotRecord
  /** The layers of the snapshot it began with. */
  readonly layers: readonly string[]
}

/** `/var/lib/dpkg` is kept in `var-lib-dpkg`. */
export function nameOf(piece: Pick<JailOverlay, 'target'>): string {
  return piece.target === '/' ? 'root' : piece.target.slice(1).replaceAll('/', '-')
}

/** Lays out a new disk in a directory of its own. `seeds` is shared between jails. */
export async function makeDisk(directory: string, seeds: string, base: JailBase): Promise<Disk> {
  const { record, layers } = await openBase(base)
  const seed = await makeSeed(seeds, record.base)
  const basePieces = record.base === 'host' ? await hostPieces(seed) : rootfsPieces(seed, record)
  const pieces = await Promise.all(basePieces.map((piece) => addLayers(piece, layers)))
  for (const piece of pieces)
    for (const part of ['upper', 'work'])
      await mkdir(join(directory, nameOf(piece), part), { recursive: true })
  return { pieces, directory, record, layers }
}

function rootfsPieces(seed: string, { base }: SnapshotRecord): JailOverlay[] {
  if (base === 'host') return []
  return [{ target: '/', lowers: [join(seed, 'root'), base.rootfs] }]
}

async function openBase(
  base: JailBase,
): Promise<{ readonly record: SnapshotRecord; readonly layers: readonly string[] }> {
  if (base === 'host') return { record: { base, layers: 0 }, layers: [] }
  if ('rootfs' in base) return { record: { base, layers: 0 }, layers: [] }
  const record = await readRecord(base.snapshot)
  const layers = Array.from({ length: record.layers }, (_, at) => join(base.snapshot, `${at}`))
  return { record, layers }
}

async function readRecord(snapshot: string): Promise<SnapshotRecord> {
  try {
    return JSON.parse(await readFile(join(snapshot, 'snapshot.json'), 'utf8')) as SnapshotRecord
  } catch (error) {
    throw new Error(
      `cannot make a jail of ${snapshot}: it is no whole snapshot of a jail. Make one with snapshot().`,
      { cause: error },
    )
  }
}

async function addLayers(piece: JailOverlay, layers: readonly string[]): Promise<JailOverlay> {
  const name = nameOf(piece)
  const present: string[] = []
  for (const layer of layers)
    if ((await readdir(layer)).includes(name)) present.unshift(join(layer, name))
  return { target: piece.target, lowers: [...present, ...piece.lowers] }
}

/**
 * Copies what was written, and the layers below by hard links: they never change, and so the snapshot stands alone.
 * The record comes last; without it a directory is no snapshot.
 */
export async function copyDisk(disk: Disk, directory: string): Promise<void> {
  await mkdir(directory, { mode: 0o700 })
  try {
    for (const [at, layer] of disk.layers.entries())
      await linkOrCopy(layer, join(directory, `${at}`))
    const top = join(directory, `${disk.layers.length}`)
    await mkdir(top)
    for (const piece of disk.pieces) {
      const upper = join(disk.directory, nameOf(piece), 'upper')
      await runProgram('cp', ['-a', '--reflink=auto', upper, join(top, nameOf(piece))])
    }
    const record: SnapshotRecord = { base: disk.record.base, layers: disk.layers.length + 1 }
    await writeFile(join(directory, 'snapshot.json'), JSON.stringify(record))
  } catch (error) {
    await rm(directory, { recursive: true, force: true })
    throw error
  }
}

async function linkOrCopy(layer: string, target: string): Promise<void> {
  await runProgram('cp', ['-al', layer, target]).catch(async () => {
    await rm(target, { recursive: true, force: true })
    await runProgram('cp', ['-a', layer, target])
  })
}

/** Who is root in the jail already, as an ordinary user's programs are, can do without the real one, which needs more. */
export async function makeSudo({ directory, record }: Disk): Promise<void> {
  const place = join(
    directory,
    record.base === 'host' ? 'usr/upper' : 'root/upper/usr',
    'local/bin',
  )
  await mkdir(place, { recursive: true })
  const script =
    '#!/bin/sh\nwhile :; do case "$1" in -u | -g) shift 2 ;; -*) shift ;; *) exec "$@" ;; esac; done\n'
  await writeFile(join(place, 'sudo'), script, { mode: 0o755 })
}

/** A jail's root may close directories to itself, which root can still remove and others have to open first. */
export async function removeDisk(directory: string): Promise<void> {
  await unmountImage(directory)
  if (!isRoot()) await runProgram('chmod', ['-R', 'u+rwX', directory]).catch(() => undefined)
  await rm(directory, { recursive: true, force: true })
}

/** What was written. Files that go away while they are counted make du complain, and no difference. */
export async function measureDisk({ pieces, directory }: Disk): Promise<number> {
  const uppers = pieces.map((piece) => join(directory, nameOf(piece), 'upper'))
  const counted = await runProgram('du', ['-sc', '--block-size=1', ...uppers]).catch(
    (error: { readonly stdout?: string }) => error.stdout ?? '',
  )
  return Number(/^(\d+)\ttotal$/m.exec(counted)?.[1] ?? 0)
}
