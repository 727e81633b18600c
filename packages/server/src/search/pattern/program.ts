import { type Ast, type Look, PatternError } from './ast.ts'
import { type ByteSequence, utf8Sequences } from './utf8.ts'

/** A state of the automaton that a pattern becomes. */
export type State =
  /** Takes a byte: first, last and next state, one after the other. */
  | { readonly type: 'bytes'; readonly steps: readonly number[] }
  /** Goes on in several states, the preferred one first. */
  | { readonly type: 'split'; to: readonly number[] }
  | { readonly type: 'look'; readonly look: Look; readonly to: number }
  | { readonly type: 'match' }

export interface Program {
  readonly states: readonly State[]
  readonly start: number
  /** It looks at lines or words around a place. */
  readonly hasLooks: boolean
  /** Whether a character beyond ASCII is part of a word matters. */
  readonly hasUnicodeWords: boolean
}

/** About 10 MB of states: a pattern beyond it repeats large classes thousands of times. */
const statesMax = 60_000

const reversed: Readonly<Record<Look, Look>> = {
  'line-start': 'line-end',
  'line-end': 'line-start',
  'text-start': 'text-end',
  'text-end': 'text-start',
  boundary: 'boundary',
  'no-boundary': 'no-boundary',
  'word-start': 'word-end',
  'word-end': 'word-start',
}

const wordLooks: ReadonlySet<Look> = new Set(['boundary', 'no-boundary', 'word-start', 'word-end'])

/** With `isReversed`, an automaton for the same texts read backwards: it finds where a match begins. */
export function compileProgram(ast: Ast, isReversed = false): Program {
  return new Compiler(isReversed).compile(ast)
}

class Compiler {
  readonly #isReversed: boolean
  readonly #states: State[] = [{ type: 'match' }]
  #hasLooks = false
  #hasUnicodeWords = false

  constructor(isReversed: boolean) {
    this.#isReversed = isReversed
  }

  compile(ast: Ast): Program {
    const start = this.#compile(ast, 0)
    return {
      states: this.#states,
      start,
      hasLooks: this.#hasLooks,
      hasUnicodeWords: this.#hasUnicodeWords,
    }
  }

  /** Gives the state that matches the tree and goes on with `next`. */
  #compile(ast: Ast, next: number): number {
    switch (ast.type) {
      case 'characters':
        return this.#sequences([...utf8Sequences(ast.set)], next)
      case 'bytes': {
        const steps: number[] = []
        for (let at = 0; at < ast.set.length; at += 2)
          steps.push(ast.set[at]!, ast.set[at + 1]!, next)
        return this.#add({ type: 'bytes', steps })
      }
      case 'look':
        return this.#look(ast.look, ast.isUnicode, next)
      case 'concat': {
        const parts = this.#isReversed ? ast.parts : ast.parts.toReversed()
        return parts.reduce((after, part) => this.#compile(part, after), next)
      }
      case 'either':
        return this.#add({ type: 'split', to: ast.parts.map((part) => this.#compile(part, next)) })
      case 'repeat':
        return this.#repeat(ast, next)
    }
  }

  #look(look: Look, isUnicode: boolean, to: number): number {
    this.#hasLooks = true
    if (isUnicode && wordLooks.has(look)) this.#hasUnicodeWords = true
    return this.#add({ type: 'look', look: this.#isReversed ? reversed[look] : look, to })
  }

  #repeat({ part, min, max, isGreedy }: Extract<Ast, { type: 'repeat' }>, next: number): number {
    let [after, left] = [next, min]
    const choice = (part: number, past: number): readonly number[] =>
      isGreedy ? [part, past] : [past, part]
    if (max === Infinity) {
      const loop: State = { type: 'split', to: [] }
      const again = this.#add(loop)
      const once = this.#compile(part, again)
      loop.to = choice(once, next)
      // The first of the required ones is the part in the loop itself.
      after = min > 0 ? once : again
      left = Math.max(0, min - 1)
    } else
      for (let count = min; count < max; count++)
        after = this.#add({ type: 'split', to: choice(this.#compile(part, after), next) })
    for (; left > 0; left--) after = this.#compile(part, after)
    return after
  }

  /** One state for each set of endings, so that `\w` is some hundred states and not thousands. */
  #sequences(sequences: readonly ByteSequence[], next: number): number {
    const ordered = this.#isReversed ? sequences.map((each) => each.toReversed()) : sequences
    const known = new Map<string, number>()
    const build = (tails: readonly ByteSequence[], depth: number): number => {
      const groups = new Map<number, ByteSequence[]>()
      for (const tail of tails) {
        const [first, last] = tail[depth]!
        const key = first * 256 + last
        const group = groups.get(key)
        if (group) group.push(tail)
        else groups.set(key, [tail])
      }
      const steps: number[] = []
      for (const [key, group] of groups) {
        const longer = group.filter((tail) => tail.length > depth + 1)
        if (longer.length < group.length) steps.push(key >> 8, key & 0xff, next)
        if (longer.length > 0) steps.push(key >> 8, key & 0xff, build(longer, depth + 1))
      }
      const name = steps.join()
      const state = known.get(name) ?? this.#add({ type: 'bytes', steps })
      known.set(name, state)
      return state
    }
    return build(ordered, 0)
  }

  #add(state: State): number {
    if (this.#states.length >= statesMax)
      throw new PatternError('it is too large; repeat smaller parts, or fewer times')
    return this.#states.push(state) - 1
  }
}
