import type { FileKind, FindOptions } from '@cairn/sdk'
import { usageError } from '../errors.ts'

/** `+10k`, `-1M`, `512`: larger, smaller, exactly. */
export function sizesOf(text: string): Pick<FindOptions, 'sizeMin' | 'sizeMax'> {
  const match = /^([+-]?)(\d{1,15})([ckMG]?)$/.exec(text)
  if (!match) throw wrong('-size', text, 'Give +N, -N or N, with k, M or G for multiples of 1024.')
  const unit = { '': 1, c: 1, k: 2 ** 10, M: 2 ** 20, G: 2 ** 30 }[match[3]!] ?? 1
  const bytes = Number(match[2]) * unit
  if (!Number.isSafeInteger(bytes)) throw wrong('-size', text, 'No file is as large as that.')
  if (match[1] === '+') return { sizeMin: bytes + 1 }
  if (match[1] === '') return { sizeMin: bytes, sizeMax: bytes }
  if (bytes === 0) throw wrong('-size', text, 'No file has less than 0 bytes.')
  return { sizeMax: bytes - 1 }
}

const unitsMs: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** A day or a time in UTC unless it says otherwise, or how long ago: `2031-05-01`, `90m`, `7d`. */
export function parseTime(option: string, text: string, now: Date): Date {
  const ago = /^(\d{1,9})([smhd])$/.exec(text)
  if (ago) return new Date(now.getTime() - Number(ago[1]) * unitsMs[ago[2]!]!)
  const isTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?)?$/.test(text)
  const hasZone = !text.includes('T') || /(?:Z|[+-]\d\d:\d\d)$/.test(text)
  const time = new Date(isTime ? (hasZone ? text : `${text}Z`) : NaN)
  if (!Number.isNaN(time.getTime())) return time
  throw wrong(
    option,
    text,
    'Give a day (2031-05-01), a time (2031-05-01T12:00) or how long ago (90m, 7d).',
  )
}

export const typeLetters = ['f', 'd', 'l'] as const
export const kindOfLetter: Readonly<Record<(typeof typeLetters)[number], FileKind>> = {
  f: 'file',
  d: 'directory',
  l: 'symlink',
}

function wrong(option: string, text: string, hint: string): Error {
  return usageError(`find by ${option} ${text}`, 'that cannot be read', hint)
}
