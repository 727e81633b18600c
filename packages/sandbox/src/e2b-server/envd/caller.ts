import { posix } from 'node:path'
import { AgentError, type AgentUser } from '../agent/entry.ts'
import type { Machine } from './machine.ts'

/** A user name that the machine does not have. */
export class UnknownUserError extends Error {}

/** A path that has no meaning, whatever is on the disk. */
export class BadPathError extends Error {}

/** Who asks, and what paths mean to them. */
export class EnvdCaller {
  readonly machine: Machine
  readonly userName: string

  constructor(machine: Machine, userName: string | undefined) {
    this.machine = machine
    this.userName = userName === undefined || userName === '' ? machine.settings.user : userName
  }

  async user(): Promise<AgentUser> {
    try {
      return await this.machine.agents.user(this.userName)
    } catch (error) {
      if (error instanceof AgentError && error.code === 'ESRCH')
        throw new UnknownUserError(`invalid username: '${this.userName}'`)
      throw error
    }
  }

  /** Absolute as it is, `~` is the home, the rest is below the home; nothing at all is where commands start. */
  async resolve(path: string): Promise<string> {
    if (path.includes('\0')) throw new BadPathError('a path has no NUL in it')
    if (path.startsWith('/')) return posix.normalize(path)
    const { home } = await this.user()
    if (path === '') return this.machine.settings.workDir ?? home
    if (path === '~' || path.startsWith('~/')) return posix.join(home, path.slice(1))
    if (path.startsWith('~'))
      throw new BadPathError(`${path}: the home of another user is not known`)
    return posix.join(home, path)
  }
}

/** The name in `Authorization: Basic`, which carries no password. */
export function userOfHeader(header: string | undefined): string | undefined {
  const encoded = /^Basic\s+(\S+)$/i.exec(header ?? '')?.[1]
  if (encoded === undefined) return undefined
  return Buffer.from(encoded, 'base64').toString().split(':')[0]
}
