import { type Ast, empty, type Look, PatternError } from './ast.ts'
import { Cursor } from './cursor.ts'
import { classEscape, readCode } from './escapes.ts'
import { parseClass } from './parse-class.ts'
import { byteMax, codePointMax, includes, negate, type CodeRanges, single } from './ranges.ts'
import { foldAscii, foldCase } from './unicode.ts'

export interface ParseOptions {
  readonly isFixed: boolean
  readonly ignoreCase: boolean
  readonly isWord: boolean
}

interface Flags {
  readonly ignoreCase: boolean
  readonly isMultiLine: boolean
  readonly dotTakesNewline: boolean
  readonly isSwapped: boolean
  readonly isUnicode: boolean
  readonly isVerbose: boolean
}

const flagLetters: Readonly<Record<string, keyof Flags>> = {
  i: 'ignoreCase',
  m: 'isMultiLine',
  s: 'dotTakesNewline',
  U: 'isSwapped',
  u: 'isUnicode',
  x: 'isVerbose',
}

const depthMax = 200
const repeatMax = 1000
const newline = 0x0a

/** Reads a pattern in the syntax of ripgrep, which is that of Rust's regex. `^` and `$` are of lines. */
export function parsePattern(text: string, options: ParseOptions): Ast {
  const { isFixed, ignoreCase, isWord } = options
  const flags: Flags = {
    ignoreCase,
    isMultiLine: true,
    dotTakesNewline: false,
    isSwapped: false,
    isUnicode: true,
    isVerbose: false,
  }
  const ast = isFixed ? fixed(text, flags) : new Parser(text).parse(flags)
  if (!isWord) return ast
  return { type: 'concat', parts: [wordEdge('word-start'), ast, wordEdge('word-end')] }
}

function wordEdge(look: Look): Ast {
  return { type: 'look', look, isUnicode: true }
}

function fixed(text: string, flags: Flags): Ast {
  const parts = Array.from(text, (character) =>
    characters(single(character.codePointAt(0)!), flags),
  )
  return { type: 'concat', parts }
}

function characters(set: CodeRanges, { ignoreCase, isUnicode }: Flags): Ast {
  if (isUnicode) return { type: 'characters', set: ignoreCase ? foldCase(set) : set }
  return { type: 'bytes', set: ignoreCase ? foldAscii(set) : set }
}

class Parser {
  readonly #cursor: Cursor
  #depth = 0

  constructor(text: string) {
    this.#cursor = new Cursor(text)
  }

  parse(flags: Flags): Ast {
    const ast = this.#alternatives(flags)
    if (!this.#cursor.isEnd) throw new PatternError("a ')' closes nothing; write \\) to find one")
    return ast
  }

  #alternatives(flags: Flags): Ast {
    if (++this.#depth > depthMax) throw new PatternError('its groups are nested too deeply')
    const parts: Ast[] = []
    let sequence: Ast[] = []
    let now = flags
    for (; !this.#cursor.isEnd && this.#cursor.peek() !== ')';) {
      if (this.#cursor.take('|')) {
        parts.push({ type: 'concat', parts: sequence })
        sequence = []
        continue
      }
      const changed = this.#takeFlags(now)
      if (changed) now = changed
      else if (!this.#skipBlank(now)) sequence.push(this.#repeated(now))
    }
    this.#depth--
    const last: Ast = { type: 'concat', parts: sequence }
    return parts.length === 0 ? last : { type: 'either', parts: [...parts, last] }
  }

  #skipBlank({ isVerbose }: Flags): boolean {
    if (!isVerbose) return false
    if (/^\s/.test(this.#cursor.peek() ?? '')) this.#cursor.next()
    else if (this.#cursor.peek() === '#')
      while (!this.#cursor.isEnd && this.#cursor.peek() !== '\n') this.#cursor.next()
    else return false
    return true
  }

  /** `(?i)`: for what follows in the group. */
  #takeFlags(flags: Flags): Flags | undefined {
    const match = /^\(\?([a-zA-Z]*(?:-[a-zA-Z]+)?)\)/.exec(this.#cursor.rest(20))
    if (!match || match[1] === '') return undefined
    this.#cursor.skip(match[0].length)
    return withFlags(flags, match[1]!)
  }

  #repeated(flags: Flags): Ast {
    let part = this.#atom(flags)
    for (;;) {
      const bounds = this.#bounds()
      if (!bounds) return part
      const isLazy = this.#cursor.take('?')
      part = { type: 'repeat', part, ...bounds, isGreedy: isLazy === flags.isSwapped }
    }
  }

  #bounds(): { min: number; max: number } | undefined {
    if (this.#cursor.take('*')) return { min: 0, max: Infinity }
    if (this.#cursor.take('+')) return { min: 1, max: Infinity }
    if (this.#cursor.take('?')) return { min: 0, max: 1 }
    if (this.#cursor.peek() !== '{') return undefined
    const match = /^\{\s*(\d{1,5})\s*(?:(,)\s*(\d{1,5})?\s*)?\}/.exec(this.#cursor.rest(24))
    if (!match) throw new PatternError("a '{' begins no repetition; write \\{ to find one")
    this.#cursor.skip(match[0].length)
    const min = Number(match[1])
    const max = match[2] === undefined ? min : match[3] === undefined ? Infinity : Number(match[3])
    if (max < min) throw new PatternError(`the repetition ${match[0]} ends before it begins`)
    if (min > repeatMax || (max !== Infinity && max > repeatMax))
      throw new PatternError(`the repetition ${match[0]} counts beyond ${repeatMax}`)
    return { min, max }
  }

  #atom(flags: Flags): Ast {
    const cursor = this.#cursor
    if (cursor.peek() === '\\') return this.#escape(flags)
    const character = cursor.next()
    switch (character) {
      case '.':
        return any(flags)
      case '^':
        return look(flags.isMultiLine ? 'line-start' : 'text-start', flags)
      case '$':
        return look(flags.isMultiLine ? 'line-end' : 'text-end', flags)
      case '(':
        return this.#group(flags)
      case '[':
        return ofClass(parseClass(cursor, flags), flags)
      case '*':
      case '+':
      case '?':
      case '{':
        throw new PatternError(`'${character}' repeats nothing; write \\${character} to find one`)
      default:
        return characters(single(codeOf(character, flags)), flags)
    }
  }

  #group(flags: Flags): Ast {
    const cursor = this.#cursor
    let inside = flags
    if (cursor.take('?')) {
      if (/^(?:[=!]|<[=!])/.test(cursor.rest(2)))
        throw new PatternError('look-around is not supported: it can take time without end')
      const match = /^(?:P?<[A-Za-z_][A-Za-z0-9_.[\]]*>|([a-zA-Z]*(?:-[a-zA-Z]+)?):)/.exec(
        cursor.rest(200),
      )
      if (!match) throw new PatternError("a group that begins with '(?' is not known")
      cursor.skip(match[0].length)
      inside = withFlags(flags, match[1] ?? '')
    }
    const ast = this.#alternatives(inside)
    if (!cursor.take(')')) throw new PatternError("a '(' is not closed; write \\( to find one")
    return ast
  }

  #escape(flags: Flags): Ast {
    const cursor = this.#cursor
    const set = classEscape(cursor, flags)
    if (set) return ofClass(set, flags)
    const at = anchors[cursor.peek(1) ?? '']
    if (at) {
      cursor.skip(2)
      return look(at, flags)
    }
    return characters(single(readCode(cursor, flags)), flags)
  }
}

const anchors: Readonly<Record<string, Look>> = {
  b: 'boundary',
  B: 'no-boundary',
  A: 'text-start',
  z: 'text-end',
}

function look(at: Look, { isUnicode }: Flags): Ast {
  return { type: 'look', look: at, isUnicode }
}

/** A class that was folded when it was read. */
function ofClass(set: CodeRanges, { isUnicode }: Flags): Ast {
  return isUnicode ? { type: 'characters', set } : { type: 'bytes', set }
}

function any({ dotTakesNewline, isUnicode }: Flags): Ast {
  const max = isUnicode ? codePointMax : byteMax
  const set = dotTakesNewline ? [0, max] : negate(single(newline), max)
  return isUnicode ? { type: 'characters', set } : { type: 'bytes', set }
}

function codeOf(character: string, { isUnicode }: Flags): number {
  const code = character.codePointAt(0)!
  if (isUnicode || code < 0x80) return code
  throw new PatternError(`'${character}' is no byte, and Unicode is switched off around it`)
}

function withFlags(flags: Flags, letters: string): Flags {
  const changed = { ...flags }
  let value = true
  for (const letter of letters) {
    const name = flagLetters[letter]
    if (letter === '-') value = false
    else if (name) changed[name] = value
    else throw new PatternError(`there is no flag '${letter}'`)
  }
  return changed
}

/** Whether a match may hold a newline, or the pattern is about the text as a whole. */
export function crossesLines(ast: Ast): boolean {
  switch (ast.type) {
    case 'characters':
    case 'bytes':
      return includes(ast.set, newline)
    case 'look':
      return ast.look === 'text-start' || ast.look === 'text-end'
    case 'repeat':
      return crossesLines(ast.part)
    case 'concat':
    case 'either':
      return ast.parts.some(crossesLines)
  }
}

/**
 * The pattern as it is for single lines, which end where a newline is. It must not ask for one, and no class holds one.
 * Throws where it asks.
 */
export function withoutNewlines(ast: Ast): Ast {
  switch (ast.type) {
    case 'characters':
    case 'bytes':
      return { type: ast.type, set: withoutNewline(ast.set) }
    case 'look':
      if (ast.look !== 'text-start' && ast.look !== 'text-end') return ast
      throw new PatternError('\\A and \\z need -U: without it, each line is looked at by itself')
    case 'concat':
    case 'either':
      return { type: ast.type, parts: ast.parts.map(withoutNewlines) }
    case 'repeat':
      return ast.max === 0 ? empty : { ...ast, part: withoutNewlines(ast.part) }
  }
}

function withoutNewline(set: CodeRanges): CodeRanges {
  if (set.length === 2 && set[0] === newline && set[1] === newline)
    throw new PatternError('it asks for a newline: matches of several lines need -U')
  const kept: number[] = []
  for (let at = 0; at < set.length; at += 2) {
    const [first, last] = [set[at]!, set[at + 1]!]
    if (first > newline || last < newline) kept.push(first, last)
    else {
      if (first < newline) kept.push(first, newline - 1)
      if (last > newline) kept.push(newline + 1, last)
    }
  }
  return kept
}
