import { Cairn } from '@cairn/sdk'
import type { SandboxWorkspace } from '../sandbox.ts'
import type { Credential } from './credential.ts'

/** Layers on the same point of what a sandbox has mounted. Gives their ids. */
export async function makeForkLayers(
  { name, path = '/', layer }: SandboxWorkspace,
  { server, key }: Credential,
  count: number,
): Promise<string[]> {
  const { layers } = new Cairn({ server, apiKey: key }).workspace(name)
  const { id: at } = await layers.checkpoint(layer ?? 'main')
  const made: string[] = []
  for (let number = 0; number < count; number++) {
    const { id } = layer ? await layers.fork(layer, { at }) : await layers.create(path, { at })
    made.push(id)
  }
  return made
}
