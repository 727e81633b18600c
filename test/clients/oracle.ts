import { folderOf, type Op, type Turn } from './history.ts'
import { type Outcome, State } from './state.ts'
import { type Memory, type Step, stepsOf } from './steps.ts'

/**
 * What may be so, given everything that was acknowledged. An operation without an answer was done or was not;
 * operations that ran together came one after the other, step by step. So there may be several states. An answer
 * that none of them explains is a fault.
 */
export class Oracle {
  #states: readonly State[] = [State.first()]

  /** Whether a look could be answered so now, beside the others of its turn. For those that may be asked again. */
  accepts(turn: Turn, op: Op, answer: Outcome): boolean {
    if (this.#judgeListing(turn, op, answer) !== undefined) return false
    return isBesideChanges(turn, op) || this.#after({ ops: [op] }, [answer]).length > 0
  }

  /** Takes in what came of a turn. Gives what is wrong with it. */
  judge(turn: Turn, answers: readonly Outcome[]): string | undefined {
    const fault = this.#judgeListings(turn, answers)
    if (fault !== undefined) return fault
    const states = this.#after(turn, answers)
    if (states.length === 0) return this.#describe(turn)
    this.#states = states
    return undefined
  }

  /** A mount died with its programs. */
  letGo(client: string): void {
    for (const state of this.#states) state.letGo(client)
  }

  #after(turn: Turn, answers: readonly Outcome[]): readonly State[] {
    const ends = new Map<string, State>()
    for (const state of this.#states)
      for (const lines of chooseOne(turn.ops.map((op, at) => variantsOf(turn, op, answers[at]!))))
        explore(state, lines, (end) => ends.set(end.settle().describe(), end))
    return [...ends.values()]
  }

  #judgeListings(turn: Turn, answers: readonly Outcome[]): string | undefined {
    for (const [at, op] of turn.ops.entries()) {
      const fault = this.#judgeListing(turn, op, answers[at]!)
      if (fault !== undefined) return fault
    }
    return undefined
  }

  /** Names that no operation of the turn touched are in a listing once, whatever happens beside them. */
  #judgeListing(turn: Turn, op: Op, answer: Outcome): string | undefined {
    if (op.type !== 'list' || !answer.startsWith('names ')) return undefined
    const listed = answer
      .slice(6)
      .split(' ')
      .filter((name) => name !== '')
    if (new Set(listed).size < listed.length) return `${op.path} lists a name twice: ${answer}`
    if (isMoved(turn, op)) return undefined
    const isUntouched = (name: string): boolean => !isTouched(turn, op, `${op.path}/${name}`)
    const found = listed.filter(isUntouched).join(' ')
    const possible = this.#states.map((state) =>
      state.tree(op.branch).list(op.path).filter(isUntouched).join(' '),
    )
    if (possible.includes(found)) return undefined
    return `${op.path} lists ${found}, not ${possible.join(' or ')}`
  }

  #describe({ ops }: Turn): string {
    const [state] = this.#states
    const alone = ops.map((op) => {
      const possible = new Set<Outcome>()
      for (const each of this.#states) {
        const line = { steps: stepsOf(op, true), expected: undefined }
        explore(each, [line], (_, [outcome]) => possible.add(outcome!))
      }
      return `${op.client} ${op.type} ${op.path}, alone: ${[...possible].map(shorten).join(' or ')}`
    })
    const states = `${this.#states.length} possible states; the first is\n${shorten(state!.describe())}`
    return [...alone, states].join('\n')
  }
}

/** One operation on its way: what is left of it, and what must come of it. */
interface Line {
  readonly steps: readonly Step[]
  readonly expected: Outcome | undefined
}

const layerWork = new Set(['commit', 'rebase', 'rollback'])

/** The ways in which an operation can have led to its answer. */
function variantsOf(turn: Turn, op: Op, answer: Outcome): readonly Line[] {
  const others = turn.ops.filter((other) => other !== op)
  // Looking while others write gives what it gives.
  if (isLook(op) && isBesideChanges(turn, op)) return [{ steps: [], expected: undefined }]
  const steps = stepsOf(op, true)
  // A file that layer work replaced is another one from then on, and those who have it open may hear so.
  const isStale = answer === 'stale' && others.some(({ type }) => layerWork.has(type))
  if (answer === 'unknown' || isStale)
    return Array.from({ length: steps.length + 1 }, (_, count) => ({
      steps: steps.slice(0, count),
      expected: undefined,
    }))
  const lines: Line[] = [{ steps, expected: answer }]
  if (layerWork.has(op.type)) lines.push({ steps: stepsOf(op, false), expected: answer })
  return lines
}

function isLook({ type }: Op): boolean {
  return type === 'read' || type === 'list' || type === 'readHeld'
}

/** Whether another operation of the turn may change what `op` looks at. */
function isBesideChanges({ ops }: Turn, op: Op): boolean {
  return ops.some((other) => other !== op && canTouch(other, op))
}

/** Whether `other` may change what `op` looks at. */
function canTouch(other: Op, op: Op): boolean {
  if (isLook(other)) return false
  if (layerWork.has(other.type)) return other.branch === op.branch || op.branch === 'main'
  if (other.branch !== op.branch) return false
  if (op.type === 'list' || op.type === 'readHeld' || other.type === 'appendHeld') return true
  return [other.path, other.other].some(
    (path) => path === op.path || op.path.startsWith(`${path}/`),
  )
}

function isTouched({ ops }: Turn, op: Op, path: string): boolean {
  return ops.some((other) => canTouch(other, { ...op, type: 'read', path }))
}

/** The directory itself comes or goes. */
function isMoved(turn: Turn, { path, branch, ...op }: Op): boolean {
  return folderOf(path) !== '' && isTouched(turn, { path, branch, ...op }, path)
}

function* chooseOne(variants: readonly (readonly Line[])[]): Generator<readonly Line[]> {
  const [first, ...rest] = variants
  if (!first) return yield []
  for (const line of first) for (const others of chooseOne(rest)) yield [line, ...others]
}

/** Every order of the steps that leads to the expected outcomes. */
function explore(
  from: State,
  lines: readonly Line[],
  onEnd: (end: State, outcomes: readonly (Outcome | undefined)[]) => void,
): void {
  const seen = new Set<string>()
  const play = (state: State, left: readonly Progress[]): void => {
    const key = `${left.map(({ at, memory }) => `${at} ${Object.values(memory).join()}`).join()}\n${state.describe()}`
    if (seen.has(key)) return
    seen.add(key)
    if (left.every(({ isOver }) => isOver))
      onEnd(
        state,
        left.map(({ outcome }) => outcome),
      )
    for (const [index, { at, memory, isOver }] of left.entries()) {
      if (isOver) continue
      const { steps, expected } = lines[index]!
      const [after, remembered] = [state.copy(), { ...memory }]
      const outcome = steps[at]!(after, remembered)
      const isEnd = outcome !== undefined || at + 1 === steps.length
      if (isEnd && expected !== undefined && outcome !== expected) continue
      play(after, left.with(index, { at: at + 1, memory: remembered, isOver: isEnd, outcome }))
    }
  }
  play(
    from,
    lines.map(({ steps }) => ({
      at: 0,
      memory: {},
      isOver: steps.length === 0,
      outcome: undefined,
    })),
  )
}

interface Progress {
  readonly at: number
  readonly memory: Memory
  readonly isOver: boolean
  readonly outcome: Outcome | undefined
}

export function shorten(text: string): string {
  return text
    .replaceAll(/\0+/g, (all) => `{${all.length} NULs}`)
    .replaceAll(/(\[\w+\])\1{3,}/g, (all) => `${all.slice(0, 8)}…${all.length}`)
}
