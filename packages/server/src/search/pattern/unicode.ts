import { codePointMax, type CodeRanges, union } from './ranges.ts'

const cache = new Map<string, CodeRanges>()

/** What a property such as `L`, `Greek` or `Script=Greek` holds; undefined for one that Unicode does not know. */
export function propertyRanges(name: string): CodeRanges | undefined {
  const spelled = /^[A-Za-z_]+(=[A-Za-z_]+)?$/.test(name) ? name : undefined
  for (const form of spelled === undefined ? [] : [spelled, `Script=${spelled}`]) {
    try {
      return rangesOf(`\\p{${form}}`)
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
    }
  }
  return undefined
}

export const wordRanges = (): CodeRanges =>
  rangesOf('\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}')
export const digitRanges = (): CodeRanges => rangesOf('\\p{Nd}')
export const spaceRanges = (): CodeRanges => rangesOf('\\p{White_Space}')

export const asciiWord: CodeRanges = [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a]
export const asciiDigit: CodeRanges = [0x30, 0x39]
export const asciiSpace: CodeRanges = [0x09, 0x0d, 0x20, 0x20]

/** The engine that runs this file knows Unicode's tables, so they are asked for instead of shipped. */
function rangesOf(members: string): CodeRanges {
  const known = cache.get(members)
  if (known) return known
  const isMember = new RegExp(`[${members}]+`, 'gu')
  const ranges: number[] = []
  // In pieces, because all code points at once are a string of 4 MB.
  for (let start = 0; start <= codePointMax; start += 0x8000) {
    if (start === 0xd800) continue
    const last = start === 0xd000 ? 0xd7ff : start + 0x7fff
    for (const { index, 0: run } of textOf(start, last).matchAll(isMember)) {
      const unit = start > 0xffff ? 2 : 1
      ranges.push(start + index / unit, start + (index + run.length) / unit - 1)
    }
  }
  const merged = union(ranges)
  cache.set(members, merged)
  return merged
}

function textOf(first: number, last: number): string {
  const codes: number[] = []
  for (let code = first; code <= last; code++) codes.push(isSurrogate(code) ? 0xfffe : code)
  return String.fromCodePoint(...codes)
}

function isSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdfff
}

let orbits: ReadonlyMap<number, readonly number[]> | undefined

/** The set and everything that equals a member when case is ignored (simple folding, as ripgrep does it). */
export function foldCase(set: CodeRanges): CodeRanges {
  orbits ??= findOrbits()
  const more: CodeRanges[] = [set]
  for (const [code, others] of orbits)
    if (isIn(set, code)) for (const other of others) more.push([other, other])
  return union(...more)
}

/** The same where only ASCII counts as letters. */
export function foldAscii(set: CodeRanges): CodeRanges {
  const more: CodeRanges[] = [set]
  for (let code = 0x41; code <= 0x5a; code++) {
    if (isIn(set, code)) more.push([code + 0x20, code + 0x20])
    if (isIn(set, code + 0x20)) more.push([code, code])
  }
  return union(...more)
}

function isIn(set: CodeRanges, code: number): boolean {
  for (let at = 0; at < set.length; at += 2)
    if (code >= set[at]! && code <= set[at + 1]!) return true
  return false
}

/** Code points that equal others when case is ignored. V8 decides: upper and lower case alone say too much. */
function findOrbits(): ReadonlyMap<number, readonly number[]> {
  const found = new Map<number, Set<number>>()
  const cased = rangesOf('\\p{Changes_When_Casemapped}')
  for (let at = 0; at < cased.length; at += 2)
    for (let code = cased[at]!; code <= cased[at + 1]!; code++) {
      const character = String.fromCodePoint(code)
      const folds = new RegExp(`^\\u{${code.toString(16)}}$`, 'iu')
      const upper = character.toUpperCase()
      for (const other of [character.toLowerCase(), upper, upper.toLowerCase()])
        if (other !== character && folds.test(other)) link(found, code, other.codePointAt(0)!)
    }
  return new Map([...found].map(([code, set]) => [code, [...set]]))
}

function link(found: Map<number, Set<number>>, a: number, b: number): void {
  const all = new Set([a, b, ...(found.get(a) ?? []), ...(found.get(b) ?? [])])
  for (const each of all) found.set(each, new Set([...all].filter((other) => other !== each)))
}
