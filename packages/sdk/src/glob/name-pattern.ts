type Token =
  | { readonly kind: 'literal'; readonly character: string }
  | { readonly kind: 'any' }
  | { readonly kind: 'star' }
  | { readonly kind: 'set'; readonly negated: boolean; readonly ranges: readonly Range[] }

type Range = readonly [first: string, last: string]

/** One name of a pattern, ready to be compared: what stands between two slashes. */
export interface NamePattern {
  /** The name it means, when it has no wildcard. */
  readonly literal: string | undefined
  matches(name: string): boolean
}

/** With `dot`, wildcards also match a dot at the beginning of a name. */
export function compileName(pattern: string, dot: boolean): NamePattern {
  const tokens = readTokens(Array.from(pattern))
  const literals = tokens.map((token) => (token.kind === 'literal' ? token.character : undefined))
  const literal = literals.every((character) => character !== undefined)
    ? literals.join('')
    : undefined
  const asksForDot = dot || literals[0] === '.'
  return {
    literal,
    matches: (name) =>
      (asksForDot || !name.startsWith('.')) && matchTokens(tokens, Array.from(name)),
  }
}

/**
 * Two pointers and one place to go back to, the newest star: at most length of pattern × length of name steps,
 * where a regular expression with several stars may take a power of it.
 */
function matchTokens(tokens: readonly Token[], name: readonly string[]): boolean {
  let at = 0
  let token = 0
  let star: { readonly token: number; at: number } | undefined
  while (at < name.length) {
    const current = tokens[token]
    if (current?.kind === 'star') {
      star = { token: ++token, at }
    } else if (current !== undefined && matchOne(current, name[at]!)) {
      token++
      at++
    } else if (star !== undefined) {
      at = ++star.at
      token = star.token
    } else {
      return false
    }
  }
  return tokens.slice(token).every(({ kind }) => kind === 'star')
}

function matchOne(token: Exclude<Token, { kind: 'star' }>, character: string): boolean {
  if (token.kind === 'any') return true
  if (token.kind === 'literal') return token.character === character
  const code = character.codePointAt(0)!
  const isIn = token.ranges.some(
    ([first, last]) => first.codePointAt(0)! <= code && code <= last.codePointAt(0)!,
  )
  return isIn !== token.negated
}

function readTokens(characters: readonly string[]): Token[] {
  const tokens: Token[] = []
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at]!
    const set = character === '[' ? readSet(characters, at) : undefined
    if (set !== undefined) {
      tokens.push(set.token)
      at = set.end
    } else if (character === '*') tokens.push({ kind: 'star' })
    else if (character === '?') tokens.push({ kind: 'any' })
    else if (character === '\\' && at + 1 < characters.length)
      tokens.push({ kind: 'literal', character: characters[++at]! })
    else tokens.push({ kind: 'literal', character })
  }
  return tokens
}

/** `end` is the closing bracket. Undefined when there is none: then `[` means itself. */
function readSet(
  characters: readonly string[],
  start: number,
): { token: Token; end: number } | undefined {
  let at = start + 1
  const negated = characters[at] === '!' || characters[at] === '^'
  if (negated) at++
  const ranges: Range[] = []
  // A bracket that comes first is a member.
  for (let isFirst = true; isFirst || characters[at] !== ']'; isFirst = false) {
    if (characters[at] === '\\') at++
    const first = characters[at++]
    const isRange =
      characters[at] === '-' && at + 1 < characters.length && characters[at + 1] !== ']'
    if (isRange) at++
    if (isRange && characters[at] === '\\') at++
    const last = isRange ? characters[at++] : first
    if (first === undefined || last === undefined || at >= characters.length) return undefined
    ranges.push([first, last])
  }
  return { token: { kind: 'set', negated, ranges }, end: at }
}
