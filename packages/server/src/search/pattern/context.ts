import type { Look } from './ast.ts'

/** What stands on one side of a place, as far as lines and words matter. */
export const contexts = { edge: 0, newline: 1, word: 2, other: 3 } as const
export type Context = (typeof contexts)[keyof typeof contexts]

export function contextOf(byte: number): Context {
  if (byte === 0x0a) return contexts.newline
  return isWordByte(byte) ? contexts.word : contexts.other
}

export function isWordByte(byte: number): boolean {
  return (
    (byte >= 0x61 && byte <= 0x7a) ||
    (byte >= 0x41 && byte <= 0x5a) ||
    (byte >= 0x30 && byte <= 0x39) ||
    byte === 0x5f
  )
}

/** Whether a look holds between two contexts. */
export function holds(look: Look, before: Context, after: Context): boolean {
  switch (look) {
    case 'line-start':
      return before <= contexts.newline
    case 'line-end':
      return after <= contexts.newline
    case 'text-start':
      return before === contexts.edge
    case 'text-end':
      return after === contexts.edge
    case 'boundary':
      return (before === contexts.word) !== (after === contexts.word)
    case 'no-boundary':
      return (before === contexts.word) === (after === contexts.word)
    case 'word-start':
      return before !== contexts.word
    case 'word-end':
      return after !== contexts.word
  }
}
