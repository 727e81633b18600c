import type { Op } from '@cairn/core'
import type { Ino } from '@cairn/protocol'

/** The file that all append to. Each appends tokens of one length, so that one that was overwritten can be seen. */
export const logName = 'LOG'
export const logIno: Ino = 900 as Ino

function tokenOf(tag: number): string {
  return `[${tag}]`.padEnd(tokenBytes, '.')
}

export const tokenBytes = 8

export function encodeToken(tag: number): Uint8Array {
  return new TextEncoder().encode(tokenOf(tag))
}

/** At an offset that the sender knows, or at the end. */
export function appendOp(tag: number, offset: number | undefined): Op {
  const time = { sec: tag, nsec: 0 }
  const data = { type: 'bytes', bytes: encodeToken(tag) } as const
  const rest = { time, ino: logIno, data, dropPrivileges: false } as const
  return offset === undefined ? { type: 'append', ...rest } : { type: 'write', offset, ...rest }
}

/** The tags of a file's tokens in their order; undefined if there is anything but tokens in it. */
export function readTokens(text: string): readonly number[] | undefined {
  const tags = [...text.matchAll(/\[(\d+)\]\.*/g)].map(([, tag]) => Number(tag))
  return tags.map(tokenOf).join('') === text ? tags : undefined
}
