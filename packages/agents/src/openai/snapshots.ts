import { randomUUID } from 'node:crypto'
import type { RemoteSnapshotStore } from '@openai/agents/sandbox'
import type { SandboxWorkspace } from '@cairn/sandbox'
import type { Workspace } from '@cairn/sdk'
import { openWorkspace } from '../exec/sandbox-source.ts'
import { hashText } from '../hash-text.ts'

/** A state of a session: a checkpoint of its layer. The same size whatever is in the workspace. */
export interface SnapshotPointer {
  readonly workspace: string
  readonly layer: string
  readonly checkpoint: string
}

export function encodePointer(pointer: SnapshotPointer): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ cairn: 1, ...pointer }))
}

export function decodePointer(data: string | ArrayBuffer | Uint8Array): SnapshotPointer {
  const text = typeof data === 'string' ? data : new TextDecoder().decode(data)
  const { cairn, ...pointer } = parseObject(text)
  if (cairn === 1) return pointer as unknown as SnapshotPointer
  throw new Error(
    'cannot use the snapshot: it is not a pointer of Cairn. Make it with a session of cairnSandboxClient.',
  )
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text)) as Readonly<Record<string, unknown>>
  } catch {
    return {}
  }
}

/**
 * Keeps snapshots of sessions of `cairnSandboxClient`. Each is a layer that begins at the session's checkpoint, so no file
 * is copied, and the snapshot outlives the session's own layer.
 */
export function cairnSnapshots(workspace: SandboxWorkspace): RemoteSnapshotStore {
  const { layers } = openWorkspace(workspace)
  return {
    save: async ({ id = randomUUID(), data }) => {
      const { layer, checkpoint } = decodePointer(data)
      const before = await findSnapshots(layers, id)
      await layers.fork(layer, { at: checkpoint, tags: { snapshot: hashText(id) } })
      for (const old of before) await layers.abandon(old)
      return { id }
    },
    load: async ({ id }) => {
      const layer = (await findSnapshots(layers, id)).at(-1)
      if (layer === undefined)
        throw new Error(`cannot load the snapshot ${id}: it is not there. See: cairn fs layer ls`)
      const { id: checkpoint } = await layers.checkpoint(layer)
      return { data: encodePointer({ workspace: workspace.name, layer, checkpoint }) }
    },
    exists: async ({ id }) => (await findSnapshots(layers, id)).length > 0,
    delete: async ({ id }) => {
      for (const layer of await findSnapshots(layers, id)) await layers.abandon(layer)
    },
  }
}

async function findSnapshots(layers: Workspace['layers'], id: string): Promise<string[]> {
  const found: string[] = []
  for await (const layer of layers.list({ tag: `snapshot=${hashText(id)}`, state: 'open' }))
    found.push(layer.id)
  return found
}
