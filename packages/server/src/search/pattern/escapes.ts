import { PatternError } from './ast.ts'
import type { Cursor } from './cursor.ts'
import { byteMax, codePointMax, negate, type CodeRanges } from './ranges.ts'
import {
  asciiDigit,
  asciiSpace,
  asciiWord,
  digitRanges,
  foldCase,
  propertyRanges,
  spaceRanges,
  wordRanges,
} from './unicode.ts'

export interface EscapeFlags {
  readonly isUnicode: boolean
  readonly ignoreCase: boolean
}

const controls: Readonly<Record<string, number>> = {
  n: 0x0a,
  t: 0x09,
  r: 0x0d,
  f: 0x0c,
  v: 0x0b,
  a: 0x07,
}

const hexDigits: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 }

/** `\d`, `\W`, `\pL` and the like; undefined, and nothing is read, where another escape stands. */
export function classEscape(cursor: Cursor, flags: EscapeFlags): CodeRanges | undefined {
  const letter = cursor.peek(1) ?? ''
  const max = flags.isUnicode ? codePointMax : byteMax
  const perl = perlClass(letter.toLowerCase(), flags.isUnicode)
  if (perl) {
    cursor.skip(2)
    return letter === letter.toLowerCase() ? perl : negate(perl, max)
  }
  if (letter !== 'p' && letter !== 'P') return undefined
  cursor.skip(2)
  return property(cursor, flags, letter === 'P')
}

function perlClass(letter: string, isUnicode: boolean): CodeRanges | undefined {
  if (letter === 'd') return isUnicode ? digitRanges() : asciiDigit
  if (letter === 's') return isUnicode ? spaceRanges() : asciiSpace
  if (letter === 'w') return isUnicode ? wordRanges() : asciiWord
  return undefined
}

function property(cursor: Cursor, flags: EscapeFlags, isNegated: boolean): CodeRanges {
  if (!flags.isUnicode)
    throw new PatternError('it names a Unicode class where Unicode is switched off')
  const text = cursor.take('{') ? cursor.until('}') : cursor.next()
  const isOpposite = text.startsWith('^')
  const set = propertyRanges(text.slice(isOpposite ? 1 : 0))
  if (!set) throw new PatternError(`Unicode has no class '${text}'`)
  const folded = flags.ignoreCase ? foldCase(set) : set
  return isNegated === isOpposite ? folded : negate(folded, codePointMax)
}

/** The code point, or without Unicode the byte, that an escape stands for. */
export function readCode(cursor: Cursor, { isUnicode }: EscapeFlags): number {
  cursor.next()
  const letter = cursor.next()
  const control = controls[letter]
  if (control !== undefined) return control
  const digits = hexDigits[letter]
  if (digits !== undefined) return readHex(cursor, digits, isUnicode ? codePointMax : byteMax)
  if (/[\p{L}\p{N}]/u.test(letter)) throw unknownEscape(letter)
  return letter.codePointAt(0)!
}

function readHex(cursor: Cursor, digits: number, max: number): number {
  const isBraced = cursor.take('{')
  const text = isBraced ? cursor.until('}') : cursor.rest(digits)
  if (!isBraced) cursor.skip(digits)
  if (!/^[0-9a-fA-F]{1,8}$/.test(text)) throw new PatternError(`'${text}' is no hexadecimal number`)
  const code = parseInt(text, 16)
  if (code <= max) return code
  throw new PatternError(
    `\\x{${text}} is beyond the last ${max === byteMax ? 'byte' : 'character'}`,
  )
}

function unknownEscape(letter: string): PatternError {
  if (/[0-9]/.test(letter))
    return new PatternError('back-references are not supported: they can take time without end')
  return new PatternError(`there is no escape '\\${letter}'`)
}
