import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { createJail, type Jail, type JailOptions } from '@cairn/sandbox'

export interface Said {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** Output and errors, one after the other. */
  readonly text: string
}

export interface Jails {
  readonly directory: string
  /** Killed after the test, if that did not do it. */
  readonly make: (options?: Partial<JailOptions>) => Promise<Jail>
}

/** Jails for the tests of a file, on a directory of their own. */
export function useJails(): Jails {
  let directory = ''
  const made: Jail[] = []
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'cairn-jails-'))
  })
  afterEach(async () => {
    for (const jail of made.splice(0)) await jail.kill()
  })
  afterAll(() => rmSync(directory, { recursive: true, force: true }))
  return {
    get directory() {
      return directory
    },
    make: async (options = {}) => {
      const jail = await createJail({ directory, ...options })
      made.push(jail)
      return jail
    },
  }
}

/** What a shell in the jail says to this. */
export async function say(jail: Jail, script: string, user = 'user'): Promise<Said> {
  const program = await jail.start({ args: ['/bin/bash', '-c', script], user })
  const [out, errors] = await Promise.all([text(program.stdout), text(program.stderr)])
  return { ...(await program.exit), text: `${out}${errors}` }
}

/** Processes of the host whose cgroup, mounts or command line name this. */
export function findTraces(id: string): string[] {
  const groups = execFileSync('find', ['/sys/fs/cgroup', '-type', 'd', '-name', `*${id}*`])
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
  const processes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => read(`/proc/${pid}/cgroup`).includes(id))
  return [
    ...groups.toString().split('\n').filter(Boolean),
    ...mounts.filter((line) => line.includes(id)),
    ...processes,
  ]
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // Ended meanwhile.
    return ''
  }
}
