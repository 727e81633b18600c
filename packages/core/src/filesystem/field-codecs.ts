import { CairnError, type Ino, type Reader, type Writer } from '@cairn/protocol'
import type { Time } from '../ports/records.ts'

/** Fields that values and operations share, as docs/internals/format.md has them. */

/** Seconds from −2^51 on and below 2^51, so that the distance of any two fits a signed number. */
const secEnd = 2 ** 51
const nsecMax = 999_999_999
/** Owners and device numbers: what the kernel keeps in 32 bits. */
export const u32Max = 0xffff_ffff

export function readIno(reader: Reader): Ino {
  return reader.positive() as Ino
}

export function writeTime(writer: Writer, time: Time): void {
  writeTimeNear(writer, time, epoch)
}

export function readTime(reader: Reader): Time {
  return readTimeNear(reader, epoch)
}

/** Written against another time, which makes most of them five bytes. */
export function writeTimeNear(writer: Writer, time: Time, near: Time): void {
  if (!isTime(time))
    throw new CairnError('malformed', {
      what: `write the time ${time.sec} s ${time.nsec} ns`,
      reason: 'out of range',
    })
  writer.signed(time.sec - near.sec).u32(time.nsec)
}

export function readTimeNear(reader: Reader, near: Time): Time {
  const time = { sec: near.sec + reader.signed(), nsec: reader.u32() }
  if (!isTime(time)) throw reader.malformed('a time out of range')
  return time
}

const epoch: Time = { sec: 0, nsec: 0 }

function isTime({ sec, nsec }: Time): boolean {
  return sec >= -secEnd && sec < secEnd && Number.isInteger(nsec) && nsec >= 0 && nsec <= nsecMax
}
