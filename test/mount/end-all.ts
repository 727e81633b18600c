import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** A process that ends takes a moment, and a supervisor may start another daemon in it. */
const lookMs = 5
/** Ends a hang, nothing else. */
const looksMax = 4000

const isRoot = process.geteuid?.() === 0
const asRoot = [
  ['umount', '-c', '-f'],
  ['umount', '-c', '-l'],
] as const
const asUser = [['fusermount3', '-u', '-z']] as const

/**
 * Kills every process whose home is in the directory, and unmounts what is mounted there. At the end of a test nothing
 * needs to be sent any more, and to ask each mount to unmount would take a command of its own.
 */
export async function endAll(directory: string): Promise<void> {
  for (let looks = 0; looks < looksMax; looks++) {
    const pids = processesOf(directory)
    for (const pid of pids) kill(pid)
    const mounted = mountsIn(directory)
    for (const path of mounted) unmount(path)
    if (pids.length === 0 && mounted.length === 0) return
    await sleep(lookMs)
  }
  throw new Error(`these do not end: ${processesOf(directory).join(' ')}`)
}

function processesOf(directory: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => read(`/proc/${pid}/environ`).includes(`HOME=${directory}/`))
    .map(Number)
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}

/** The newest first: one may be in another. */
function mountsIn(directory: string): readonly string[] {
  const lines = read('/proc/self/mounts').split('\n')
  const paths = lines.map((line) => line.split(' ')[1] ?? '')
  return paths.filter((path) => path.startsWith(`${directory}/`)).toReversed()
}

/**
 * Ends the kernel's side, even while programs wait in there. Not by detaching alone: a thread of a killed daemon that
 * waits for a page keeps the descriptor, and with it every program, until the connection is ended. Neither looks at the
 * path.
 */
export function unmount(path: string): void {
  for (const [program, ...words] of isRoot ? asRoot : asUser)
    try {
      execFileSync(program, [...words, path], { stdio: 'ignore' })
    } catch {
      // The first one was enough, or it is not mounted.
    }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // It has ended, or is another user's.
    return ''
  }
}
