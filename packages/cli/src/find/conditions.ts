import { compileGlob, type FileEntry } from '@cairn/sdk'
import { usageError } from '../errors.ts'

export type Condition = (entry: FileEntry) => boolean

/** The last name only, hidden ones included, as find(1) does it. */
export function byName(pattern: string): Condition {
  const matches = compileGlob(pattern, { dot: true })
  return ({ name }) => matches(name)
}

/** `+10k`, `-1M`, `512`: larger, smaller, exactly. Of files only: the size of a directory counts its entries. */
export function bySize(text: string): Condition {
  const match = /^([+-]?)(\d{1,15})([ckMG]?)$/.exec(text)
  if (!match) throw wrong('-size', text, 'Give +N, -N or N, with k, M or G for multiples of 1024.')
  const unit = { '': 1, c: 1, k: 2 ** 10, M: 2 ** 20, G: 2 ** 30 }[match[3]!] ?? 1
  const bytes = Number(match[2]) * unit
  return ({ kind, size }) => {
    if (kind !== 'file') return false
    if (match[1] === '+') return size > bytes
    return match[1] === '-' ? size < bytes : size === bytes
  }
}

export function byTime(option: '-newer' | '-older', text: string, now: Date): Condition {
  const limit = BigInt(parseTime(option, text, now)) * 1_000_000n
  return ({ mtimeNs }) => (option === '-newer' ? BigInt(mtimeNs) > limit : BigInt(mtimeNs) < limit)
}

const unitsMs: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** A day or a time in UTC unless it says otherwise, or how long ago: `2031-05-01`, `90m`, `7d`. In ms since 1970. */
export function parseTime(option: string, text: string, now: Date): number {
  const ago = /^(\d{1,9})([smhd])$/.exec(text)
  if (ago) return now.getTime() - Number(ago[1]) * unitsMs[ago[2]!]!
  const isTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?)?$/.test(text)
  const hasZone = !text.includes('T') || /(?:Z|[+-]\d\d:\d\d)$/.test(text)
  const time = isTime ? Date.parse(hasZone ? text : `${text}Z`) : NaN
  if (!Number.isNaN(time)) return time
  throw wrong(
    option,
    text,
    'Give a day (2031-05-01), a time (2031-05-01T12:00) or how long ago (90m, 7d).',
  )
}

export const typeLetters = ['f', 'd', 'l'] as const
const kinds = { f: 'file', d: 'directory', l: 'symlink' } as const

export function byType(letter: (typeof typeLetters)[number]): Condition {
  return ({ kind }) => kind === kinds[letter]
}

function wrong(option: string, text: string, hint: string): Error {
  return usageError(`find by ${option} ${text}`, 'that cannot be read', hint)
}
