import type { Ast } from './ast.ts'
import { countOf, type CodeRanges } from './ranges.ts'
import { encode } from './utf8.ts'

/** Texts, one character a byte, of which every match holds at least one. */
export type Clause = readonly string[]

/** What every match holds: something of each clause. None means that nothing is known. */
export type Needs = readonly Clause[]

interface Known {
  /** All texts that it can match, where they are few. */
  readonly exact: readonly string[] | undefined
  readonly needs: Needs
}

const exactMax = 32
const charactersMax = 8
const nothing: Known = { exact: undefined, needs: [] }

/** What a pattern's matches must hold. `spell` may make texts equal that are to be treated as such. */
export function findNeeds(ast: Ast, spell: (text: string) => string = (text) => text): Needs {
  const { exact, needs } = know(ast, spell)
  return (exact ? [exact] : needs).filter(isUseful)
}

/** The text, when the pattern is nothing else. */
export function wholeText(ast: Ast): string | undefined {
  const { exact } = know(ast, (text) => text)
  return exact?.length === 1 && !hasLook(ast) && exact[0] !== '' ? exact[0] : undefined
}

function hasLook(ast: Ast): boolean {
  if (ast.type === 'look') return true
  if (ast.type === 'repeat') return hasLook(ast.part)
  return (ast.type === 'concat' || ast.type === 'either') && ast.parts.some(hasLook)
}

function isUseful(clause: Clause): boolean {
  return clause.length > 0 && clause.every((text) => text !== '')
}

function know(ast: Ast, spell: (text: string) => string): Known {
  switch (ast.type) {
    case 'characters':
      return ofSet(ast.set, spell, (code) => String.fromCharCode(...encode(code)))
    case 'bytes':
      return ofSet(ast.set, spell, (byte) => String.fromCharCode(byte))
    case 'look':
      return { exact: [''], needs: [] }
    case 'concat':
      return ofConcat(ast.parts.map((part) => know(part, spell)))
    case 'either':
      return ofEither(ast.parts.map((part) => know(part, spell)))
    case 'repeat': {
      if (ast.min === 0) return nothing
      const once = know(ast.part, spell)
      if (ast.min === 1 && ast.max === 1) return once
      return { exact: undefined, needs: once.exact ? [once.exact] : once.needs }
    }
  }
}

function ofSet(
  set: CodeRanges,
  spell: (text: string) => string,
  write: (code: number) => string,
): Known {
  if (countOf(set) > charactersMax) return nothing
  const texts = new Set<string>()
  for (let at = 0; at < set.length; at += 2)
    for (let code = set[at]!; code <= set[at + 1]!; code++) texts.add(spell(write(code)))
  return { exact: [...texts], needs: [] }
}

/** Neighbours whose texts are known are put together, as long as there are few. */
function ofConcat(parts: readonly Known[]): Known {
  const needs: Clause[] = []
  let run: readonly string[] = ['']
  let isExact = true
  const flush = (): void => {
    isExact = false
    if (isUseful(run)) needs.push(run)
    run = ['']
  }
  for (const { exact, needs: inner } of parts) {
    if (exact && run.length * exact.length > exactMax) flush()
    if (exact && exact.length <= exactMax)
      run = [...new Set(run.flatMap((head) => exact.map((tail) => head + tail)))]
    else {
      flush()
      needs.push(...inner)
    }
  }
  if (isExact) return { exact: run, needs: [] }
  flush()
  return { exact: undefined, needs }
}

/** Of each alternative the clause that says most; one without any makes the whole say nothing. */
function ofEither(parts: readonly Known[]): Known {
  const exact = parts.flatMap((part) => part.exact ?? [])
  if (parts.every((part) => part.exact) && exact.length <= exactMax)
    return { exact: [...new Set(exact)], needs: [] }
  const best = parts.map((part) => bestClause(part.exact ? [part.exact] : part.needs))
  if (best.some((clause) => clause === undefined)) return nothing
  return { exact: undefined, needs: [[...new Set(best.flatMap((clause) => clause!))]] }
}

/** The clause whose shortest text is longest. */
function bestClause(needs: Needs): Clause | undefined {
  const shortest = (clause: Clause): number => Math.min(...clause.map((text) => text.length))
  return needs.filter(isUseful).toSorted((a, b) => shortest(b) - shortest(a))[0]
}
