import { randomInt } from 'node:crypto'

/** The users of a jail are ids on the host that no host user has. */
export interface JailUsers {
  /** The host's number for the jail's root; 0: an ordinary user made the jail, and is all the users it has. */
  readonly base: number
  readonly count: number
}

const count = 65_536
/** systemd's containers end below it, and above its last range begin the numbers that some programs read as negative. */
const first = 0x70000000
const ranges = 4096

/** Random, so that jails of programs that know nothing of each other rarely share the limits that are counted by user. */
export function chooseUsers(): JailUsers {
  if (!isRoot()) return { base: 0, count: 1 }
  return { base: first + randomInt(ranges) * count, count }
}

/** The one that commands run as, unless they name another. */
export const ordinaryUser = { name: 'user', uid: 1000, gid: 1000, home: '/home/user' } as const

/** Only root can make a jail with more than one user in it. */
export function isRoot(): boolean {
  return process.getuid?.() === 0
}
