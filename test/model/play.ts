import type { CreateOp, Op } from '@cairn/core'
import { type Ino, type Name, rootIno } from '@cairn/protocol'
import fc from 'fast-check'
import { anyStep, type Step } from './step.ts'
import type { Model } from './model.ts'
import type { World } from './world.ts'

/** A random history. Now and then it begins with many files, so that the tree has several levels. */
export interface Story {
  readonly crowd: number
  readonly steps: readonly Step[]
}

export function anyStory(stepsMax: number): fc.Arbitrary<Story> {
  return fc.record({
    crowd: fc.oneof({ weight: 12, arbitrary: fc.constant(0) }, fc.constant(120)),
    steps: fc.array(anyStep, { maxLength: stepsMax, size: 'max' }),
  })
}

export interface Played {
  /** Each succeeds when it follows those before it. */
  readonly ops: readonly Op[]
  /** The model before the first operation and after each. */
  readonly models: readonly Model[]
}

export async function playStory(world: World, { crowd, steps }: Story): Promise<Played> {
  const model = world.newModel()
  const ops: Op[] = []
  const models = [model.clone()]
  const play = (op: Op): void => {
    if (model.apply([op]) !== undefined) return
    ops.push(op)
    models.push(model.clone())
  }
  for (let left = crowd; left > 0; left--) play(makeFile(world.resolver.nextIno()))
  for (const step of steps) play(await world.resolver.resolve(step, model))
  return { ops, models }
}

function makeFile(ino: Ino): CreateOp {
  const name = `${(ino * 7919) % 1000} ${'crowd'.repeat(10)}` as Name
  const owner = { mode: 0o644, uid: 0, gid: 0 }
  const time = { sec: ino, nsec: 0 }
  return {
    type: 'create',
    time,
    parent: rootIno,
    name,
    ino,
    kind: 'file',
    ...owner,
    rdev: 0,
    target: undefined,
  }
}
