import { type Ast, PatternError } from '../pattern/ast.ts'
import { Cursor } from '../pattern/cursor.ts'
import { Dfa, gaveUp } from '../pattern/dfa.ts'
import { parsePattern } from '../pattern/parse.ts'
import { findByStates } from '../pattern/pike.ts'
import { compileProgram } from '../pattern/program.ts'
import {
  codePointMax,
  negate,
  type CodeRanges,
  single,
  subtract,
  union,
} from '../pattern/ranges.ts'

const slash = 0x2f
/** An ignore file may have thousands of globs, each with a table of its own. */
const statesMax = 256
const notSlash: Ast = { type: 'characters', set: negate(single(slash), codePointMax) }
/** Names are bytes, and a star stands for any of them. */
const anyByte: Ast = { type: 'bytes', set: negate(single(slash), 0xff) }
const rawBytes: Ast = { type: 'bytes', set: [0, 0xff] }

/** Tests a path without a slash at its beginning; one character a byte. */
export type GlobTest = (path: string) => boolean

/**
 * A glob as .gitignore and ripgrep read it: `*` and `?` within a name, `**` for directories, `[a-z]`, `{this,that}`, `\`.
 * It becomes an automaton, so that no glob takes long.
 */
export function compileGlob(text: string): GlobTest {
  const quick = quickTest(text)
  if (quick) return quick
  const edges = parsePattern('(?-m)^', { isFixed: false, ignoreCase: false, isWord: false })
  const end = parsePattern('(?-m)$', { isFixed: false, ignoreCase: false, isWord: false })
  const body = new GlobParser(text).parse()
  const program = compileProgram({ type: 'concat', parts: [edges, body, end] })
  const dfa = new Dfa(program, { isBackward: false, statesMax })
  return (path) => {
    const bytes = Buffer.from(path, 'latin1')
    const end = dfa.findEnd(bytes, 0, bytes.length, true)
    if (end !== gaveUp) return end >= 0
    return findByStates(program, bytes, 0, bytes.length, () => {}) !== undefined
  }
}

/** Most globs are a path, a name or an ending, in any directory. */
export function quickTest(text: string): GlobTest | undefined {
  if (/^[A-Za-z0-9._/-]+$/.test(text)) return (path) => path === text
  const match = /^\*\*\/(\*)?([A-Za-z0-9._-]+)$/.exec(text)
  if (!match) return undefined
  const [, star, name = ''] = match
  if (star === undefined) return (path) => path === name || path.endsWith(`/${name}`)
  return (path) => path.endsWith(name)
}

class GlobParser {
  readonly #cursor: Cursor
  #depth = 0

  constructor(text: string) {
    this.#cursor = new Cursor(text)
  }

  parse(): Ast {
    const parts = this.#sequence(true)
    if (!this.#cursor.isEnd) throw new PatternError("a '}' closes nothing")
    return parts
  }

  #sequence(isStart: boolean): Ast {
    const parts: Ast[] = []
    let isAtName = isStart
    for (;;) {
      const cursor = this.#cursor
      const next = cursor.peek()
      if (next === undefined || (this.#depth > 0 && (next === ',' || next === '}'))) break
      if (isAtName && cursor.startsWith('**/')) {
        cursor.skip(3)
        parts.push(directories)
        continue
      }
      if (isAtName && cursor.startsWith('**') && cursor.peek(2) === undefined) {
        cursor.skip(2)
        parts.push(repeat(rawBytes, 1))
        continue
      }
      isAtName = next === '/'
      parts.push(this.#one())
    }
    return { type: 'concat', parts }
  }

  #one(): Ast {
    const cursor = this.#cursor
    const character = cursor.next()
    if (character === '*') {
      while (cursor.take('*'));
      return repeat(anyByte, 0)
    }
    if (character === '?') return { type: 'either', parts: [notSlash, anyByte] }
    if (character === '[') return this.#set()
    if (character === '{') return this.#braces()
    const own = character === '\\' && !cursor.isEnd ? cursor.next() : character
    return this.#literal(single(own.codePointAt(0)!))
  }

  #literal(set: CodeRanges): Ast {
    return { type: 'characters', set }
  }

  #set(): Ast {
    const cursor = this.#cursor
    const isNegated = cursor.take('!') || cursor.take('^')
    const sets: CodeRanges[] = []
    for (let isFirst = true; isFirst || cursor.peek() !== ']'; isFirst = false) {
      const first = this.#member()
      const isRange = cursor.peek() === '-' && cursor.peek(1) !== ']'
      if (isRange) cursor.next()
      const last = isRange ? this.#member() : first
      if (last < first) throw new PatternError('a range in its class ends before it begins')
      sets.push([first, last])
    }
    cursor.next()
    const set = union(...sets)
    return this.#literal(
      subtract(isNegated ? negate(set, codePointMax) : set, single(slash), codePointMax),
    )
  }

  #member(): number {
    const character = this.#cursor.next()
    const own = character === '\\' ? this.#cursor.next() : character
    return own.codePointAt(0)!
  }

  #braces(): Ast {
    if (++this.#depth > 20) throw new PatternError('its braces are nested too deeply')
    const parts: Ast[] = []
    do parts.push(this.#sequence(false))
    while (this.#cursor.take(','))
    if (!this.#cursor.take('}')) throw new PatternError("a '{' is not closed")
    this.#depth--
    return { type: 'either', parts }
  }
}

function repeat(part: Ast, min: number): Ast {
  return { type: 'repeat', part, min, max: Infinity, isGreedy: true }
}

/** `**` and a slash: any number of directories, also none. */
const directories: Ast = {
  type: 'repeat',
  part: {
    type: 'concat',
    parts: [repeat(rawBytes, 0), { type: 'characters', set: single(slash) }],
  },
  min: 0,
  max: 1,
  isGreedy: true,
}
