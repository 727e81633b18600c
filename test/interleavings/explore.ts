import { createHash } from 'node:crypto'
import { fingerprint } from './fingerprint.ts'
import { isDue, ModelWorld } from './model-world.ts'
import type { Scenario } from './scenario.ts'

export interface Explored {
  /** Different states that were reached. */
  readonly states: number
  /** How often the order of a run departed from the ordinary one, for which all runs were tried. */
  readonly detours: number
  /** All of them: no order is left out. */
  readonly isWhole: boolean
  /** The first that was found. */
  readonly fault: Fault | undefined
}

export interface Fault {
  readonly what: string
  readonly path: readonly string[]
}

interface State {
  readonly path: readonly string[]
  /** Those from which it can be reached in one step. */
  readonly before: Set<State>
  readonly isEnd: boolean
}

/** A run that is to be tried: these steps, the last of which is not the ordinary one, and then the ordinary ones. */
interface Run {
  readonly path: readonly string[]
  readonly detours: number
  /** What goes first where several things can happen. */
  readonly order: readonly string[]
  readonly from: State | undefined
}

/**
 * Tries all orders in which things can happen: first those that depart from the ordinary order least often, until
 * `statesMax` states are known. A run ends where it meets a state that is known. A world cannot be copied, so each run
 * begins at the beginning.
 */
export async function explore(scenario: Scenario, statesMax: number): Promise<Explored> {
  const exploration = new Exploration(scenario)
  const runs: Run[] = [{ path: [], detours: 0, order: [], from: undefined }]
  let detours = 0
  for (const run of runs) {
    detours = run.detours
    const fault = await exploration.try(run, runs)
    const states = exploration.states.length
    const isOver = fault !== undefined || states >= statesMax
    if (isOver) return { states, detours: detours - 1, isWhole: false, fault }
  }
  const { states } = exploration
  return { states: states.length, detours, isWhole: true, fault: findStuck(states) }
}

class Exploration {
  readonly states: State[] = []
  readonly #scenario: Scenario
  readonly #known = new Map<string, State>()

  constructor(scenario: Scenario) {
    this.#scenario = scenario
  }

  /** Gives what was wrong. Runs that depart from this one go behind `runs`. */
  async try(run: Run, runs: Run[]): Promise<Fault | undefined> {
    const world = await replay(this.#scenario, run.path)
    const path = [...run.path]
    let [{ from }, order] = [run, run.order]
    for (;;) {
      if (world.isAtRest) judgeRest(world)
      const [what] = world.promises.faults
      if (what !== undefined) return { what, path }
      const known = this.#known.get(keyOf(world))
      const state = known ?? this.#enter(world, path)
      if (from) state.before.add(from)
      if (known) return undefined
      order = inOrder(world.steps, order)
      const [ordinary, ...others] = order.filter((step) => world.steps.includes(step))
      const rest = { detours: run.detours + 1, from: state }
      for (const step of others)
        runs.push({ ...rest, path: [...path, step], order: putFirst(order, step) })
      if (ordinary === undefined)
        return state.isEnd ? undefined : { what: 'all wait for ever', path }
      path.push(ordinary)
      await world.take(ordinary)
      from = state
    }
  }

  #enter(world: ModelWorld, path: readonly string[]): State {
    const state = { path: [...path], before: new Set<State>(), isEnd: world.isAtRest }
    this.#known.set(keyOf(world), state)
    this.states.push(state)
    return state
  }
}

function judgeRest({ promises }: ModelWorld): void {
  promises.judgeEnd()
  promises.judgeKnown()
}

function keyOf(world: ModelWorld): string {
  return createHash('md5').update(fingerprint(world)).digest('base64')
}

/** Programs begin at once; then what was sent arrives; what may go wrong does not. */
function inOrder(steps: readonly string[], order: readonly string[]): readonly string[] {
  const fresh = steps.filter((step) => !order.includes(step))
  return [
    ...fresh.filter((step) => step.endsWith('begins')),
    ...order,
    ...fresh.filter((step) => isDue(step)),
    ...fresh.filter((step) => !isDue(step) && !step.endsWith('begins')),
  ]
}

/** What would have come before it goes behind everything. */
function putFirst(order: readonly string[], step: string): readonly string[] {
  const index = order.indexOf(step)
  return [...order.slice(index), ...order.slice(0, index)]
}

/** The world after these steps. */
async function replay(scenario: Scenario, path: readonly string[]): Promise<ModelWorld> {
  const world = await ModelWorld.begin(scenario)
  for (const step of path) await world.take(step)
  return world
}

/** A state from which no order of steps leads to rest: a claim, a look or a change is never answered there. */
function findStuck(states: readonly State[]): Fault | undefined {
  const reached = new Set(states.filter(({ isEnd }) => isEnd))
  for (const state of reached) for (const before of state.before) reached.add(before)
  const stuck = states.find((state) => !reached.has(state))
  return stuck && { what: 'a program waits for ever', path: stuck.path }
}
