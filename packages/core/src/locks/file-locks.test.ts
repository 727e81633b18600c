import type { SessionId } from '@cairn/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  applyLock,
  type FileLocks,
  findBlocker,
  type LockChange,
  lockEndMax,
  lockKinds,
  type LockMode,
  lockModes,
  ownLocks,
} from './file-locks.ts'

const sizeMax = 12

const anyChange = fc
  .record({
    session: fc.constantFrom('s1' as SessionId, 's2' as SessionId),
    owner: fc.constantFrom('a', 'b'),
    kind: fc.constantFrom(...lockKinds),
    start: fc.nat(sizeMax - 1),
    length: fc.integer({ min: 1, max: sizeMax }),
    mode: fc.constantFrom(...lockModes),
  })
  .map(({ length, ...change }): LockChange => ({
    ...change,
    end: Math.min(change.start + length, sizeMax) - 1,
    pid: 1,
  }))

/** Each byte by itself: who has it, and how. */
class ByteModel {
  readonly #bytes = new Map<string, Map<string, LockMode>>()

  /** False, and nothing changed, where another owner's lock blocks it. */
  apply(change: LockChange): boolean {
    const cells = this.#cells(change)
    const own = ownerOf(change)
    const isFree = cells.every((owners) =>
      [...owners].every(
        ([owner, mode]) =>
          owner === own || change.mode === 'none' || (mode === 'read' && change.mode === 'read'),
      ),
    )
    if (!isFree) return false
    for (const owners of cells)
      if (change.mode === 'none') owners.delete(own)
      else owners.set(own, change.mode)
    return true
  }

  modeAt(change: LockChange, byte: number): LockMode {
    const [owners] = this.#cells({ ...change, start: byte, end: byte })
    return owners!.get(ownerOf(change)) ?? 'none'
  }

  #cells({ kind, start, end }: LockChange): Map<string, LockMode>[] {
    const cells: Map<string, LockMode>[] = []
    for (let byte = start; byte <= end; byte++) {
      const key = `${kind} ${byte}`
      const owners = this.#bytes.get(key) ?? new Map<string, LockMode>()
      this.#bytes.set(key, owners)
      cells.push(owners)
    }
    return cells
  }
}

function ownerOf({ session, owner }: LockChange): string {
  return `${session} ${owner}`
}

function modeAt(locks: FileLocks, change: LockChange, byte: number): string {
  const own = ownLocks(locks, { ...change, start: byte, end: byte })
  return own.map(({ mode }) => mode).join() || 'none'
}

function byteByByte(
  askers: readonly LockChange[],
  modeOf: (asker: LockChange, byte: number) => string,
): string {
  const modes = askers.map((asker) =>
    Array.from({ length: sizeMax }, (_, byte) => modeOf(asker, byte)).join(' '),
  )
  return modes.join('\n')
}

/** No two of one owner that could be one. */
function hasNeighbours(locks: FileLocks): boolean {
  return locks.some((a) =>
    locks.some(
      (b) =>
        ownerOf(a) === ownerOf(b) &&
        a.kind === b.kind &&
        a.mode === b.mode &&
        a.end + 1 === b.start,
    ),
  )
}

const whole = { kind: 'posix', start: 0, end: lockEndMax, pid: 1 } as const
const [a, b] = [
  { session: 's1' as SessionId, owner: 'a', ...whole },
  { session: 's2' as SessionId, owner: 'a', ...whole },
]

describe('file locks', () => {
  it('answers as a model does that looks at each byte by itself', () => {
    fc.assert(
      fc.property(fc.array(anyChange, { maxLength: 40 }), (changes) => {
        const model = new ByteModel()
        let locks: FileLocks = []
        for (const change of changes) {
          const outcome = applyLock(locks, change)
          expect('locks' in outcome).toBe(model.apply(change))
          if ('locks' in outcome) locks = outcome.locks
          expect(hasNeighbours(locks)).toBe(false)
          expect(byteByByte(changes, (asker, byte) => modeAt(locks, asker, byte))).toBe(
            byteByByte(changes, (asker, byte) => model.modeAt(asker, byte)),
          )
        }
      }),
      { numRuns: 300 },
    )
  })

  it('the same owner in another session is another owner', () => {
    const [mine] = granted([], { ...a, mode: 'write' })
    expect(applyLock([mine!], { ...b, mode: 'read' })).toEqual({ blocker: mine })
  })

  it('a reader becomes a writer when it is the only one', () => {
    const one = granted([], { ...a, mode: 'read' })
    const both = granted(one, { ...b, mode: 'read' })
    expect(findBlocker(both, { ...a, mode: 'write' })).toMatchObject({ session: 's2' })
    expect(granted(one, { ...a, mode: 'write' })).toMatchObject([{ mode: 'write' }])
  })

  it('unlocking the middle of a lock without end leaves both sides', () => {
    const locks = granted([], { ...a, mode: 'write' })
    expect(granted(locks, { ...a, start: 10, end: 19, mode: 'none' })).toMatchObject([
      { start: 0, end: 9 },
      { start: 20, end: lockEndMax },
    ])
  })
})

function granted(locks: FileLocks, change: LockChange): FileLocks {
  const outcome = applyLock(locks, change)
  if (!('locks' in outcome)) throw new Error('another lock is in the way')
  return outcome.locks
}
