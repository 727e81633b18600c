import { readFileSync } from 'node:fs'
import { readFile, readdir, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { removeDisk } from './disk.ts'

/** Who made a jail, and what remains of it outside of its directory when that process is killed. */
interface Owner {
  readonly pid: number
  /** Numbers are used again; a number and its time of birth are not. */
  readonly bornAt: string
  readonly cgroups: readonly string[]
}

const removeAttempts = 100
const removeEveryMs = 10

export async function writeOwner(directory: string, cgroups: readonly string[]): Promise<void> {
  const owner: Owner = { pid: process.pid, bornAt: bornAt(process.pid)!, cgroups }
  await writeFile(join(directory, 'owner.json'), JSON.stringify(owner))
}

/** Removes what jails left here whose makers were killed. */
export async function sweep(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const place = join(directory, name)
    const owner = await readOwner(place)
    if (owner === undefined || bornAt(owner.pid) === owner.bornAt) continue
    await Promise.all(owner.cgroups.map(kill))
    await Promise.all(owner.cgroups.map(removeGroup))
    await removeDisk(place)
  }
}

/** What was frozen does not notice that its maker is gone. Only groups of the second version have this file. */
async function kill(cgroup: string): Promise<void> {
  await writeFile(join(cgroup, 'cgroup.kill'), '1').catch(() => undefined)
}

/** A group is busy until the last of what was killed in it is gone. */
async function removeGroup(cgroup: string): Promise<void> {
  for (let attempt = 0; attempt < removeAttempts; attempt++) {
    const failure = await rmdir(cgroup).catch((error: NodeJS.ErrnoException) => error)
    if (failure?.code !== 'EBUSY') return
    await sleep(removeEveryMs)
  }
}

async function readOwner(place: string): Promise<Owner | undefined> {
  try {
    return JSON.parse(await readFile(join(place, 'owner.json'), 'utf8')) as Owner
  } catch {
    // No jail's, or one that is being made.
    return undefined
  }
}

/** In ticks since the machine started; undefined if there is no such process. */
function bornAt(pid: number): string | undefined {
  try {
    // The name before it may contain anything but a closing parenthesis followed by a space and a letter.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined
  }
}
