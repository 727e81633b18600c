import { Cairn } from '@cairn/sdk'
import { expect } from 'vitest'
import type { Site, SiteMount } from '../fixture.ts'
import { describeTree, hash } from './walker.ts'

/** As `stat` numbers the kinds that walkers make. */
const kindNumbers: Readonly<Record<string, number>> = { directory: 4, file: 8, symlink: 10 }

/** What the host has is what every mount shows, what the server tells without one, and what the next mount finds. */
export async function expectSameTrees(
  site: Site,
  mounts: readonly SiteMount[],
  host: string,
): Promise<void> {
  const expected = describeTree(host)
  for (const { directory } of mounts) expect(describeTree(directory)).toEqual(expected)
  for (const mount of mounts) await mount.drain()
  expect(await describeServer(site)).toEqual(describeTree(host, false))
  const later = await site.mount('/', '--read-only')
  expect(describeTree(later.directory)).toEqual(expected)
}

/** As `describeTree` does it, over HTTP, which tells no extended attributes. */
async function describeServer(site: Site): Promise<string[]> {
  const { files } = new Cairn({ server: site.url, apiKey: site.key }).workspace('demo')
  const lines = new Map<string, string>()
  for await (const { path, kind, mode, nlink, size, target } of files.walk('/')) {
    const attributes = `${kindNumbers[kind]} ${Number.parseInt(mode, 8).toString(8)} ${nlink}`
    if (kind === 'file') lines.set(path, `${attributes} ${size} ${hash(await files.read(path))}`)
    else lines.set(path, kind === 'symlink' ? `${attributes} ${target}` : attributes)
  }
  return [...lines.keys()].sort().map((path) => `${path.slice(1)}: ${lines.get(path)}`)
}
