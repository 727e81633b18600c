import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { SiteMount } from '../fixture.ts'
import { Random, randomStep } from './step.ts'
import { walk } from './walk.ts'
import { Walker } from './walker.ts'

/**
 * Every mount takes steps of its own in a directory of its own, all of them at once, whatever happens around
 * them. The host takes the same steps, and gives the same answers.
 */
export async function walkAtOnce(
  mounts: readonly SiteMount[],
  host: string,
  { seed, steps: count }: { readonly seed: number; readonly steps: number },
  around: (walk: () => Promise<void>) => Promise<unknown> = (walk) => walk(),
): Promise<void> {
  const random = new Random(seed)
  const walks = mounts.map((mount, index) => {
    const steps = Array.from({ length: count }, () => randomStep(random))
    const name = `w${index}`
    for (const directory of [mount.directory, host])
      mkdirSync(join(directory, name), { recursive: true })
    return { name, steps, directory: mount.path(name) }
  })
  let answers: unknown[][] = []
  await around(async () => {
    answers = await Promise.all(walks.map((one) => walk(one)))
  })
  for (const [index, { name, steps }] of walks.entries()) {
    const model = new Walker(join(host, name))
    for (const [at, step] of steps.entries())
      expect(answers[index]![at], `${name}, step ${at}: ${JSON.stringify(step)}`).toEqual(
        model.take(step),
      )
    model.close()
  }
}
