import {
  type Files,
  isClosed,
  type Layer,
  type Model,
  mergeFiles,
  type Outcome,
  setFiles,
} from './model.ts'

/** A part of an operation that happens at once. Undefined says that there is more to come. */
export type Step = (model: Model, memory: Memory) => Outcome | undefined

/** What one step leaves for those after it. */
export interface Memory {
  moved?: number
  base?: Files
  parent?: string
  outcome?: Outcome
}

export interface Operation {
  readonly name: string
  readonly method: 'POST' | 'PUT' | 'DELETE'
  readonly url: string
  readonly body?: object | string
  readonly steps: readonly Step[]
}

const missing = 'branch_missing'

/** One step on a layer that is there. */
function on(
  name: string,
  step: (layer: Layer, model: Model, memory: Memory) => Outcome | undefined,
): Step {
  return (model, memory) => {
    const layer = model.layers.get(name)
    return layer ? step(layer, model, memory) : missing
  }
}

/** Everything that can be asked for on a layer, as a request and as what the model does. */
export function operationsOn(name: string): readonly Operation[] {
  const url = `/layers/${name}`
  const post = (verb: string, steps: readonly Step[], body: object = {}): Operation => ({
    name: verb,
    method: 'POST',
    url: `${url}/${verb}`,
    body,
    steps,
  })
  return [
    post('commit', commitSteps(name, 'ok')),
    post('rebase', [on(name, (layer, model) => model.rebase(layer))]),
    post('rollback', [on(name, (layer) => rollback(layer, layer.base))]),
    {
      ...post('rollback', [on(name, (layer) => rollback(layer, layer.checkpoint))], { to: 'cp' }),
      name: 'rollback to a checkpoint',
    },
    post('pick', [
      ...commitSteps(name, undefined),
      (model, memory) => abandonRivals(name, model, memory),
    ]),
    post('resolve', [on(name, findConflict), on(name, decide)], { path: 'both', take: 'layer' }),
    post('abandon', [on(name, abandon)]),
    {
      name: 'checkpoint',
      method: 'POST',
      url: `${url}/checkpoints`,
      body: { label: 'new' },
      steps: [on(name, () => 'ok')],
    },
    {
      name: 'fork',
      method: 'POST',
      url: '/layers',
      body: { name: 'fork', parent: name },
      steps: [on(name, fork)],
    },
    {
      name: 'delete',
      method: 'DELETE',
      url,
      steps: [on(name, giveUp), (model) => remove(name, model)],
    },
    {
      name: 'edit',
      method: 'PUT',
      url: `/files/repo/late?layer=${name}`,
      body: 'late',
      steps: [on(name, (_, model) => model.write(name, '/repo/late', 'late'))],
    },
  ]
}

/** First the parent has it, then the layer is closed, unless it was written to in between. */
function commitSteps(name: string, closed: Outcome | undefined): readonly Step[] {
  return [
    on(name, (layer, model, memory) => {
      memory.base = layer.base
      memory.parent = layer.parent
      memory.outcome = model.land(layer)
      memory.moved = layer.moved
      return ['ok', 'layer_conflict'].includes(memory.outcome) ? undefined : memory.outcome
    }),
    (model, { moved, base, outcome }) => {
      const layer = model.layers.get(name)
      const isUnchanged = layer && layer.moved === moved && !isClosed(layer)
      if (outcome === 'layer_conflict') {
        if (isUnchanged) layer.state = 'conflicted'
        return outcome
      }
      if (!isUnchanged) return closed
      layer.state = 'committed'
      // A closed layer is shown with what it was committed over.
      layer.base = base!
      return closed
    },
  ]
}

function abandonRivals(name: string, model: Model, { base, parent }: Memory): Outcome {
  for (const rival of model.children(parent!))
    if (rival.name !== name && rival.base === base && !isClosed(rival)) rival.state = 'abandoned'
  return 'ok'
}

function rollback(layer: Layer, files: Files | undefined): Outcome {
  if (isClosed(layer)) return 'layer_closed'
  if (!files) return 'checkpoint_outdated'
  setFiles(layer, files)
  return 'ok'
}

function findConflict(layer: Layer, model: Model): Outcome | undefined {
  if (!mergeFiles(layer, model.targetOf(layer).files).conflicts.includes(conflictPath))
    return 'conflict_missing'
  return undefined
}

function decide(layer: Layer): Outcome {
  layer.decided = new Set([...layer.decided, conflictPath])
  return 'ok'
}

const conflictPath = '/repo/both'

function abandon(layer: Layer): Outcome {
  if (layer.state === 'committed') return 'layer_closed'
  layer.state = 'abandoned'
  return 'ok'
}

/** On a layer that is worked on; beside one that is over, with its work. */
function fork(layer: Layer, model: Model): Outcome {
  if (model.layers.has('fork')) return 'branch_exists'
  if (!isClosed(layer)) {
    model.create('fork', layer.name)
    return 'ok'
  }
  const { parent, base, files } = layer
  const fresh = { checkpoint: undefined, decided: new Set<string>(), moved: 0 }
  model.layers.set('fork', { name: 'fork', parent, base, files, state: 'open', ...fresh })
  return 'ok'
}

/** Later writes to it are refused, before it is gone. */
function giveUp(layer: Layer, model: Model): Outcome | undefined {
  if (model.children(layer.name).length > 0) return 'layer_in_use'
  if (!isClosed(layer)) layer.state = 'abandoned'
  return undefined
}

function remove(name: string, model: Model): Outcome {
  model.layers.delete(name)
  return 'ok'
}
