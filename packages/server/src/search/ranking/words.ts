// It is loaded by the thread that searches, so it imports nothing by a package's name.

/** A word of a question: what its forms begin with, in lower case. */
export type Stem = string

const wordsMax = 16
/** Words that say nothing about a file. A question of such words alone keeps them. */
const common: ReadonlySet<string> = new Set(
  `a an and are as at be by can do does for from had has have how i if in into is it its me my no not of on or our so that
  the their them then there these they this to was we were what when where which who why will with would you your`.split(
    /\s+/,
  ),
)
/** English endings, so that `expire` finds `expired` and `expiration`. */
const endings = ['ations', 'ation', 'ings', 'ing', 'ies', 'ied', 'es', 'ed', 's', 'e', 'y']
const stemLettersMin = 4

/** What a question looks for: each word once, in its order. Empty where it has no letter and no digit. */
export function stemsOf(question: string): readonly Stem[] {
  const apart = question.replaceAll(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})/gu, ' ')
  const words = (apart.match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => word.toLowerCase())
  const telling = words.filter((word) => !common.has(word) && word.length > 1)
  const stems = (telling.length > 0 ? telling : words).map(stemOf)
  return [...new Set(stems)].slice(0, wordsMax)
}

function stemOf(word: string): Stem {
  if (!/^[a-z]+$/.test(word)) return word
  const ending = endings.find(
    (each) =>
      word.endsWith(each) &&
      word.length - each.length >= stemLettersMin &&
      !(each === 's' && word.endsWith('ss')),
  )
  return ending === undefined ? word : word.slice(0, -ending.length)
}

/** In ripgrep's syntax: the longest first, because the first that fits is taken. Stems are letters and digits. */
export function patternOf(stems: readonly Stem[]): string {
  return stems.toSorted((a, b) => b.length - a.length || (a < b ? -1 : 1)).join('|')
}

interface Span {
  readonly start: number
  readonly end: number
}

/** Tells which stem a match is: its place among them, or -1 where it is in the middle of a word. */
export class StemReader {
  readonly #places: ReadonlyMap<Stem, number>

  constructor(stems: readonly Stem[]) {
    this.#places = new Map(stems.map((stem, at) => [stem, at]))
  }

  read(line: Uint8Array, { start, end }: Span): number {
    if (!beginsWord(line, start)) return -1
    const text = Buffer.from(line.buffer, line.byteOffset + start, end - start).toString()
    return this.#places.get(text.toLowerCase()) ?? -1
  }
}

/** Also the parts of `sessionExpired`, `HTTPSession` and `session_expired`. Other alphabets may need no space between words. */
function beginsWord(line: Uint8Array, start: number): boolean {
  const [before, first, second] = [line[start - 1], line[start]!, line[start + 1]]
  if (before === undefined || first >= 0x80 || !(isLetter(before) || isDigit(before))) return true
  if (!isUpper(first)) return isDigit(before) && isLetter(first)
  return !isUpper(before) || (second !== undefined && isLetter(second) && !isUpper(second))
}

function isLetter(byte: number): boolean {
  return isUpper(byte) || (byte >= 0x61 && byte <= 0x7a) || byte >= 0x80
}

function isUpper(byte: number): boolean {
  return byte >= 0x41 && byte <= 0x5a
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39
}
