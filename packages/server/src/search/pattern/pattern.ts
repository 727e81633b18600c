import { type Ast, PatternError } from './ast.ts'
import { contentEnd, lineAround } from './line-ends.ts'
import { Dfa, gaveUp, noMatch } from './dfa.ts'
import { findNeeds, type Needs, wholeText } from './needs.ts'
import { crossesLines, parsePattern, withoutNewlines } from './parse.ts'
import { findByStates, type Span } from './pike.ts'
import { compileProgram, type Program } from './program.ts'

export interface PatternOptions {
  readonly isFixed: boolean
  readonly ignoreCase: boolean
  readonly isWord: boolean
  /** Matches may go over several lines. */
  readonly isMultiline: boolean
}

/** What ran a pattern: a search for plain text, a table of states, or, where that gave up, all states at once. */
export const engines = ['literal', 'dfa', 'nfa'] as const
export type Engine = (typeof engines)[number]

export const patternCharactersMax = 8192

const vainPlacesMin = 64
const rareBytes = 512

/** A pattern that is ready to search bytes. The time is linear in the text for every pattern. */
export class Pattern {
  readonly #ast: Ast
  readonly #program: Program
  readonly #forward: Dfa
  readonly #text: Buffer | undefined
  /** Every match holds all of them, the longest first. */
  readonly #required: Buffer[]
  /** Places of the first of them that were no match, and how many bytes were searched for it. */
  #vain = { places: 0, bytes: 0 }
  readonly #tick: () => void
  #backward: Dfa | undefined
  #slow = false
  #isSure = false
  /** Whether a match may really go over several lines. */
  readonly isMultiline: boolean

  /** `tick` is called now and then, and throws when time is up. */
  constructor(text: string, options: PatternOptions, tick: () => void = () => {}) {
    if (text.length > patternCharactersMax) throw new PatternError('it is too long')
    const parsed = parsePattern(text, options)
    this.isMultiline = options.isMultiline && crossesLines(parsed)
    this.#ast = this.isMultiline ? parsed : withoutNewlines(parsed)
    this.#program = compileProgram(this.#ast)
    this.#forward = new Dfa(this.#program, { isBackward: false })
    this.#text = bufferOf(wholeText(this.#ast))
    this.#required = requiredTexts(this.#ast).map((each) => Buffer.from(each, 'latin1'))
    this.#tick = tick
  }

  get engine(): Engine {
    return this.#text ? 'literal' : this.#slow ? 'nfa' : 'dfa'
  }

  /** What every match holds, spelled in lower case. */
  get needs(): Needs {
    return findNeeds(this.#ast, lowerAscii)
  }

  /** The first line with a match that begins at `from` or later, among whole lines up to `end`. */
  findLine(bytes: Buffer, from: number, end: number): Span | undefined {
    for (let at = from; at < end;) {
      const place = this.#findPlace(bytes, at, end)
      if (place < 0) return undefined
      const line = lineAround(bytes, place, end)
      // A match of nothing behind the last newline is in no line.
      if (line.start >= end) return undefined
      if (this.#isSure || this.find(bytes, line.start, contentEnd(bytes, line))) return line
      this.#noteVain(line.end - at)
      at = line.end
    }
    return undefined
  }

  /** A text that is in nearly every line saves nothing. */
  #noteVain(bytes: number): void {
    const vain = this.#vain
    vain.places++
    vain.bytes += bytes
    if (vain.places < vainPlacesMin || vain.bytes / vain.places > rareBytes) return
    this.#required.shift()
    this.#vain = { places: 0, bytes: 0 }
  }

  /** A place in the next line that has a match; or, unless `isSure`, may have one. */
  #findPlace(bytes: Buffer, from: number, end: number): number {
    this.#tick()
    this.#isSure = false
    if (this.#text) {
      this.#isSure = true
      return indexBefore(bytes, this.#text, from, end)
    }
    const [required] = this.#required
    if (required) return indexBefore(bytes, required, from, end)
    const found = this.#forward.findEnd(bytes, from, end, true)
    if (found === gaveUp) return this.#forward.stuckAt
    this.#isSure = true
    return found
  }

  /** The match that begins first, at `from` or later. */
  find(bytes: Buffer, from: number, end: number): Span | undefined {
    this.#tick()
    if (this.#text) {
      const start = indexBefore(bytes, this.#text, from, end)
      return start < 0 ? undefined : { start, end: start + this.#text.length }
    }
    const matchEnd = this.#forward.findEnd(bytes, from, end, false)
    if (matchEnd === noMatch) return undefined
    if (matchEnd === gaveUp) return this.#findSlowly(bytes, from, end)
    this.#backward ??= new Dfa(compileProgram(this.#ast, true), { isBackward: true })
    const start = this.#backward.findStart(bytes, matchEnd, from, end)
    return start < 0 ? this.#findSlowly(bytes, from, end) : { start, end: matchEnd }
  }

  #findSlowly(bytes: Buffer, from: number, end: number): Span | undefined {
    this.#slow = true
    return findByStates(this.#program, bytes, from, end, this.#tick)
  }
}

function indexBefore(bytes: Buffer, text: Buffer, from: number, end: number): number {
  const at = bytes.indexOf(text, from)
  return at + text.length > end ? -1 : at
}

function bufferOf(text: string | undefined): Buffer | undefined {
  return text === undefined ? undefined : Buffer.from(text, 'latin1')
}

/** Texts that all matches hold. One that is found so often, without a match, is given up. */
function requiredTexts(ast: Ast): readonly string[] {
  return findNeeds(ast)
    .flatMap((clause) => (clause.length === 1 ? clause : []))
    .toSorted((a, b) => b.length - a.length)
}

function lowerAscii(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}
