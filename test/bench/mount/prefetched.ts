import { setTimeout } from 'node:timers/promises'
import { Cairn } from '@cairn/sdk'
import { Site } from '../../mount/fixture.ts'
import { median } from '../table.ts'
import { rounds } from './ground.ts'
import { type Result, wants } from './result.ts'

const directories = 20
const filesPerDirectory = 50
const files = directories * filesPerDirectory
const text = 'a line of forty characters, more or less\n'.repeat(50)
/** Between mounting and the first command of an agent. */
const thinkMs = 1500

export const prefetchedNames: readonly string[] = ['prefetched']

/** A first command that reads what the mount before read, beside the same where no mount was before. */
export async function benchPrefetched(): Promise<Result[]> {
  if (!wants(...prefetchedNames)) return []
  const site = await Site.open()
  try {
    const [first, second]: [number[], number[]] = [[], []]
    for (let round = 0; round < rounds; round++) {
      await fill(site, `/round${round}`)
      for (const times of [first, second]) times.push(await readAll(site, `/round${round}`))
    }
    const work = `first read of ${files} files, after a mount that read them`
    const [measured, yardstick] = [median(second), median(first)]
    return [{ name: 'prefetched', work, unit: 's', measured, yardstick }]
  } finally {
    await site.close()
  }
}

async function fill({ url, key }: Site, root: string): Promise<void> {
  const workspace = new Cairn({ server: url, apiKey: key }).workspace('demo')
  await workspace.batch([{ op: 'mkdir', path: root }])
  for (let d = 0; d < directories; d++) {
    await workspace.batch([{ op: 'mkdir', path: `${root}/d${d}` }])
    const names = Array.from({ length: filesPerDirectory }, (_, f) => `${root}/d${d}/f${f}`)
    await workspace.batch(names.map((path) => ({ op: 'write', path, text: `${path}\n${text}` })))
  }
}

async function readAll(site: Site, root: string): Promise<number> {
  const mount = await site.mount(root)
  await setTimeout(thinkMs)
  const begin = performance.now()
  await mount.sh('cat */* > /dev/null')
  const seconds = (performance.now() - begin) / 1000
  await mount.unmount()
  return seconds
}
