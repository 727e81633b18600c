import { readFileSync } from 'node:fs'

const bit = (signal: number): bigint => 1n << BigInt(signal - 1)
const sigkill = bit(9)

/** Whose default is not to end the process: CHLD, CONT, STOP, TSTP, TTIN, TTOU, URG, WINCH. */
const survivable = [17, 18, 19, 20, 21, 22, 23, 28].map(bit).reduce((all, one) => all | one)

/**
 * Whether a thread is about to end by a signal. The kernel says of a waiting request only that a
 * signal came, and those with a handler must not end a `stat`: on a disk they do not, and programs
 * with a timer (git's progress) rely on it. An unknown thread counts as dying, so that it never
 * waits for ever.
 */
export function isDying(pid: number): boolean {
  let status: string
  try {
    status = readFileSync(`/proc/${pid}/status`, 'latin1')
  } catch {
    return true
  }
  const read = (field: string): bigint =>
    BigInt(`0x${new RegExp(`^${field}:\\s*(\\w+)`, 'm').exec(status)?.[1] ?? '0'}`)
  const pending = read('SigPnd') | read('ShdPnd')
  // Usually the kernel has made a fatal signal a SIGKILL, but not when another one was pending already.
  const fatal = pending & ~(read('SigBlk') | read('SigIgn') | read('SigCgt') | survivable)
  return ((pending & sigkill) | fatal) !== 0n
}
