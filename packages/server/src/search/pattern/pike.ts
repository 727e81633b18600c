import type { Look } from './ast.ts'
import { type Context, contextOf, contexts, holds } from './context.ts'
import type { Program } from './program.ts'
import { includes } from './ranges.ts'
import { wordRanges } from './unicode.ts'

export interface Span {
  readonly start: number
  readonly end: number
}

/** Places in the program, each with where its match began, the preferred ones first. */
interface Threads {
  readonly ids: number[]
  readonly starts: number[]
}

/**
 * Runs a program in all of its states at once: slower than the table, and right where that gives up. Time is length of
 * text × size of program.
 */
export function findByStates(
  { states, start }: Program,
  bytes: Uint8Array,
  from: number,
  end: number,
  tick: () => void,
): Span | undefined {
  const marks = new Uint32Array(states.length).fill(0xffffffff)
  let found: Span | undefined
  let current: Threads = { ids: [], starts: [] }
  const follow = (threads: Threads, first: number, at: number, began: number): boolean => {
    const stack = [first]
    for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
      if (marks[id] === at) continue
      marks[id] = at
      const state = states[id]!
      if (state.type === 'split')
        for (let each = state.to.length - 1; each >= 0; each--) stack.push(state.to[each]!)
      else if (state.type === 'look') {
        if (isThere(state.look, bytes, at, end)) stack.push(state.to)
      } else if (state.type === 'match') {
        found = { start: began, end: at }
        return true
      } else {
        threads.ids.push(id)
        threads.starts.push(began)
      }
    }
    return false
  }
  if (follow(current, start, from, from)) return found
  for (let at = from; at < end; at++) {
    tick()
    const next: Threads = { ids: [], starts: [] }
    let isCut = false
    for (let each = 0; each < current.ids.length && !isCut; each++) {
      const { steps } = states[current.ids[each]!] as { steps: readonly number[] }
      for (let step = 0; step < steps.length && !isCut; step += 3)
        if (bytes[at]! >= steps[step]! && bytes[at]! <= steps[step + 1]!)
          isCut = follow(next, steps[step + 2]!, at + 1, current.starts[each]!)
    }
    if (!found) isCut = follow(next, start, at + 1, at + 1)
    current = next
    if (current.ids.length === 0 && found) return found
  }
  return found
}

function isThere(look: Look, bytes: Uint8Array, at: number, end: number): boolean {
  return holds(look, before(bytes, at), after(bytes, at, end))
}

function after(bytes: Uint8Array, at: number, end: number): Context {
  if (at >= end) return contexts.edge
  const byte = bytes[at]!
  return byte < 0x80 ? contextOf(byte) : wordContext(decodeAt(bytes, at, end))
}

function before(bytes: Uint8Array, at: number): Context {
  if (at === 0) return contexts.edge
  const byte = bytes[at - 1]!
  if (byte < 0x80) return contextOf(byte)
  for (let start = at - 1; start >= 0 && start >= at - 4; start--)
    if ((bytes[start]! & 0xc0) !== 0x80) return wordContext(decodeAt(bytes, start, at))
  return contexts.other
}

function wordContext(code: number | undefined): Context {
  return code !== undefined && includes(wordRanges(), code) ? contexts.word : contexts.other
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The character that begins there; undefined where the bytes are no UTF-8. */
function decodeAt(bytes: Uint8Array, at: number, end: number): number | undefined {
  const byte = bytes[at]!
  const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
  if (byte < 0xc2 || at + length > end) return undefined
  try {
    return decoder.decode(bytes.subarray(at, at + length)).codePointAt(0)
  } catch {
    return undefined
  }
}
