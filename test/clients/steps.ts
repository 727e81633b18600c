import type { LayerName, Op } from './history.ts'
import type { Outcome, State } from './state.ts'

/** A part of an operation that happens at once. Undefined says that there is more to come. */
export type Step = (state: State, memory: Memory) => Outcome | undefined

/** What one step leaves for those after it. */
export interface Memory {
  ino?: number
  /** What is copied. */
  from?: number
  moved?: number
}

/** What the model does for an operation. `asOthers`: files that layer work changes become others of the same name. */
export function stepsOf(op: Op, asOthers: boolean): readonly Step[] {
  const steps = partsOf(op, asOthers)
  const isAtOnce = op.client === 'http' || (op.client === 'sdk' && op.type !== 'commit')
  return isAtOnce ? [allAtOnce(steps)] : steps
}

/** A request is one change in the log. */
function allAtOnce(steps: readonly Step[]): Step {
  return (state, memory) => {
    for (const step of steps) {
      const outcome = step(state, memory)
      if (outcome !== undefined) return outcome
    }
    return undefined
  }
}

function partsOf(op: Op, asOthers: boolean): readonly Step[] {
  const { type, branch, text, offset, client } = op
  const layer = branch as LayerName
  switch (type) {
    case 'write':
      return [open(op, { creates: true, cuts: true }), change(op, (old) => patch(old, 0, text))]
    case 'append':
      return [open(op, { creates: true }), change(op, (old) => old + text)]
    case 'exclusive':
      return [open(op, { creates: true, isNew: true }), change(op, (old) => patch(old, 0, text))]
    case 'patch':
      return [open(op, {}), change(op, (old) => patch(old, offset, text))]
    case 'truncate':
      return [open(op, {}), change(op, (old) => resize(old, offset))]
    case 'copy':
      return copySteps(op)
    case 'hold':
      return [open(op, { creates: true }), (state, { ino }) => (state.hold(client, ino!), 'ok')]
    case 'letGo':
      return [(state) => (state.letGo(client), 'ok')]
    case 'appendHeld':
      return [
        held(op, (state, ino) => setText(op, state, ino, state.tree(branch).text(ino) + text)),
      ]
    case 'readHeld':
      return [held(op, (state, ino) => `text ${state.tree(branch).text(ino)}`)]
    case 'read':
      return [(state) => readPath(op, state)]
    case 'list':
      return [(state) => listPath(op, state)]
    case 'commit':
      return commitSteps(layer, asOthers)
    case 'rebase':
      return [unlessClosed(op, (state) => state.rebase(layer, asOthers))]
    case 'rollback':
      return [unlessClosed(op, (state) => (state.rollback(layer, asOthers), 'ok'))]
    case 'renew':
      return [(state) => (state.isClosed(layer) ? (state.makeLayer(layer), 'ok') : 'refused')]
    case 'link':
    case 'mkdir':
    case 'rename':
    case 'renameDirectory':
    case 'rmdir':
    case 'save':
    case 'unlink':
      return [unlessClosed(op, (state) => changeNames(op, state))]
  }
}

function unlessClosed({ branch }: Op, step: (state: State) => Outcome): Step {
  return (state) => (state.isClosed(branch) ? 'refused' : step(state))
}

/** What needs no file to be opened. */
function changeNames(op: Op, state: State): Outcome {
  const { branch, type, path, other, text } = op
  const tree = state.tree(branch)
  const isDone = ((): boolean => {
    if (type === 'unlink' || type === 'rmdir') return tree.remove(path)
    if (type === 'mkdir') return tree.create(path, true) !== undefined
    if (type === 'link') return tree.link(path, other)
    if (type === 'rename' || type === 'renameDirectory') return tree.rename(path, other)
    // Saved as editors do: a new file takes the name.
    tree.remove(path)
    tree.setText(tree.create(path)!, text)
    return true
  })()
  if (isDone) state.move(branch)
  return isDone ? 'ok' : 'refused'
}

interface OpenOptions {
  readonly creates?: boolean
  readonly isNew?: boolean
  readonly cuts?: boolean
}

function open({ branch, path }: Op, { creates, isNew, cuts }: OpenOptions): Step {
  return (state, memory) => {
    const tree = state.tree(branch)
    const found = tree.find(path)
    // As Linux does: what is there, is there also on what cannot be written.
    if (found !== undefined && isNew) return 'refused'
    if (found === undefined && !creates) return 'refused'
    if (state.isClosed(branch)) return 'refused'
    const ino = found ?? tree.create(path)
    if (ino === undefined) return 'refused'
    memory.ino = ino
    if (cuts) tree.setText(ino, '')
    if (cuts || found === undefined) state.move(branch)
    return undefined
  }
}

/** Changes the file that was opened, whatever became of its name. */
function change(op: Op, edit: (old: string) => string): Step {
  return (state, { ino }) => {
    if (state.isClosed(op.branch)) return 'refused'
    return setText(op, state, ino!, edit(state.tree(op.branch).text(ino!)))
  }
}

function setText({ branch }: Op, state: State, ino: number, text: string): Outcome {
  state.tree(branch).setText(ino, text)
  state.move(branch)
  return 'ok'
}

function held({ client }: Op, step: (state: State, ino: number) => Outcome): Step {
  return (state) => {
    const ino = state.held(client)
    return ino === undefined ? 'refused' : step(state, ino)
  }
}

function readPath({ branch, path }: Op, state: State): Outcome {
  const ino = state.tree(branch).find(path)
  return ino === undefined ? 'refused' : `text ${state.tree(branch).text(ino)}`
}

function listPath({ branch, path }: Op, state: State): Outcome {
  const tree = state.tree(branch)
  const isThere = path === 'repo' || path === 'box' || tree.find(path) !== undefined
  return isThere ? `names ${tree.list(path).join(' ')}` : 'refused'
}

/** Over HTTP only to a name that is free. */
function copySteps(op: Op): readonly Step[] {
  const { branch, path, other, client } = op
  const isApi = client === 'http' || client === 'sdk'
  const find: Step = (state, memory) => {
    const found = state.tree(branch).find(path)
    if (found === undefined) return 'refused'
    memory.from = found
    return undefined
  }
  const target = open({ ...op, path: other }, { creates: true, isNew: isApi, cuts: true })
  return [
    find,
    target,
    (state, memory) => setText(op, state, memory.ino!, state.tree(branch).text(memory.from!)),
  ]
}

/** First main has it, then the layer is closed, unless it was written to in between. */
function commitSteps(layer: LayerName, asOthers: boolean): readonly Step[] {
  return [
    (state, memory) => {
      if (state.isClosed(layer)) return 'ok'
      const landed = state.land(layer, asOthers)
      if (landed === 'conflict') return landed
      memory.moved = landed
      return undefined
    },
    (state, { moved }) => (state.close(layer, moved!), 'ok'),
  ]
}

function patch(old: string, offset: number, text: string): string {
  return (
    resize(old, Math.max(old.length, offset)).slice(0, offset) +
    text +
    old.slice(offset + text.length)
  )
}

function resize(old: string, length: number): string {
  return old.slice(0, length).padEnd(length, '\0')
}
