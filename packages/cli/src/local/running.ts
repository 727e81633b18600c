import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isRunning, markProcess, type ProcessMark } from '@cairn/mount/beside'
import type { Cli } from '../cli.ts'
import { commandLine } from '../output/shell-words.ts'
import { writeSecretFile } from '../context/secret-file.ts'

/** What a server of this machine writes into its data directory, for commands that look for it. */
export interface LocalServer extends ProcessMark {
  readonly url: string
}

export function dataDirectory(home: string, given: string | undefined): string {
  return given ?? join(home, '.cairn', 'data')
}

/** What ends the server of that directory. */
export function downCommand({ home }: Pick<Cli, 'home'>, data: string): string {
  return data === dataDirectory(home, undefined)
    ? 'cairn down'
    : commandLine`cairn down --data ${data}`
}

/** Where a server in the background writes what it has to say. */
export function logPath(data: string): string {
  return join(data, 'server.log')
}

function notePath(data: string): string {
  return join(data, 'server.json')
}

/** Stays when the server ends: mounts still name its address, and the process mark says that it is gone. */
export async function noteRunning(data: string, url: string): Promise<void> {
  const mark = markProcess(process.pid)
  if (mark) await writeSecretFile(notePath(data), { ...mark, url })
}

/** The last server that used the directory; undefined when there was none. */
export function findLast(data: string): LocalServer | undefined {
  try {
    return JSON.parse(readFileSync(notePath(data), 'utf8')) as LocalServer
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

export function findRunning(data: string): LocalServer | undefined {
  const last = findLast(data)
  return last && isRunning(last) ? last : undefined
}

/** The process that has the directory open, ready or not; undefined when that has ended. */
export function findHolder(data: string): ProcessMark | undefined {
  try {
    return markProcess(Number(readFileSync(join(data, 'pid'), 'utf8')))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
