import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import type { Ground } from './ground.ts'
import { type Result, wants } from './result.ts'

const changes = 200

export const visibilityNames: readonly string[] = ['visibility']

/** Written and closed on one mount: how long until another reads it. New files and changed ones by turns. */
export async function benchVisibility({ site, mount }: Ground): Promise<Result[]> {
  if (!wants(...visibilityNames)) return []
  const other = await site.mount('/')
  try {
    const times: number[] = []
    for (let i = 0; i < changes; i++) {
      const name = i % 2 === 0 ? `new-${i}` : 'changed'
      read(other.path(name))
      const begin = performance.now()
      writeFileSync(mount.path(name), `${i}`)
      while (read(other.path(name)) !== `${i}`) await setTimeout(1)
      times.push(performance.now() - begin)
    }
    const p99 = times.sort((a, b) => a - b)[Math.floor(changes * 0.99)]!
    const work = 'written on one mount, read on another, p99'
    return [{ name: 'visibility', work, unit: 'ms', measured: p99, aim: { atMost: 100 } }]
  } finally {
    await other.unmount()
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
