import type { Jail } from '../../jail/jail.ts'
import type { MachineSettings } from '../envd/machine.ts'
import type { Disks } from '../sandboxes/disks.ts'
import type { BuildFiles } from './build-files.ts'
import type { BuildSpec, BuildStep } from './build-spec.ts'
import { runStep } from './run-step.ts'
import { nextKey, type StepCache, startKey } from './step-cache.ts'

/** Keeping a disk costs about as much as a quick step: those run again. */
const slowMs = 1000

interface Start {
  readonly disk: string | undefined
  readonly settings: MachineSettings
}

interface Work {
  readonly spec: BuildSpec
  readonly disks: Disks
  readonly cache: StepCache
  readonly files: BuildFiles
  readonly makeJail: (disk: string | undefined) => Promise<Jail>
  readonly say: (line: string, step: string) => void
}

/** A jail in which every step of the spec was done, the newest kept ones by taking over their disk. */
export async function runSteps(
  { spec, disks, cache, files, makeJail, say }: Work,
  start: Start,
): Promise<{ readonly jail: Jail; readonly settings: MachineSettings }> {
  const keys = keysOf(spec.steps, start)
  const done = spec.force ? 0 : countKept(spec.steps, keys, cache)
  const kept = done === 0 ? undefined : cache.find(keys[done - 1]!)
  let settings = kept?.settings ?? start.settings
  const title = (at: number): string => {
    const { type, args } = spec.steps[at]!
    return `[${at + 1}/${spec.steps.length}] ${type} ${args.join(' ')}`
  }
  for (let at = 0; at < done; at++) say(`CACHED ${title(at)}`, `${at + 1}`)
  const jail = await makeJail(kept?.disk ?? start.disk)
  try {
    for (let at = done; at < spec.steps.length; at++) {
      const number = `${at + 1}`
      say(title(at), number)
      const tell = (line: string): void => say(line, number)
      const began = performance.now()
      settings = await runStep({ jail, step: spec.steps[at]!, number, settings, files, say: tell })
      if (performance.now() - began < slowMs) continue
      const disk = await disks.take(jail, { durable: true })
      for (const old of await cache.keep(keys[at]!, disk, settings)) await disks.remove(old)
    }
    return { jail, settings }
  } catch (error) {
    await jail.kill()
    throw error
  }
}

function keysOf(steps: readonly BuildStep[], { disk, settings }: Start): string[] {
  let key = startKey(disk, settings)
  return steps.map((step) => (key = nextKey(key, step)))
}

/** How many steps the newest kept disk has behind it. A step that is forced runs, and so do all after it. */
function countKept(steps: readonly BuildStep[], keys: readonly string[], cache: StepCache): number {
  const forced = steps.findIndex(({ force }) => force === true)
  const usable = forced === -1 ? keys : keys.slice(0, forced)
  return usable.findLastIndex((key) => cache.find(key) !== undefined) + 1
}
