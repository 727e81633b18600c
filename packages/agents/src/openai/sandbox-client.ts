import {
  Manifest,
  type ManifestInit,
  type RemoteSnapshotSpec,
  type SandboxClient,
  type SandboxClientCreateArgs,
  type SnapshotSpec,
} from '@openai/agents/sandbox'
import { openWorkspace, type SandboxSource } from '../exec/sandbox-source.ts'
import { findLayer } from '../find-layer.ts'
import { writeManifest } from './manifest.ts'
import { CairnSession, type CairnSessionState, type Place } from './sandbox-session.ts'
import { decodePointer, encodePointer, type SnapshotPointer } from './snapshots.ts'

export { type CairnSession, type CairnSessionState, sandboxSession } from './sandbox-session.ts'
export { cairnSnapshots } from './snapshots.ts'
export { cairnToolCalls } from './tool-calls.ts'

/** For `sandbox.options` of a run. */
export interface CairnRunOptions extends Record<string, unknown> {
  /** Works in the layer of this name, which is made if it is not there. A new one without a name unless given. */
  readonly layer?: string
}

type AnyClient = SandboxClient<CairnRunOptions, CairnSessionState>

/** Its sessions have every method of sessions. */
export interface CairnSandboxClient extends Omit<AnyClient, 'create' | 'resume'> {
  create(
    args?: SandboxClientCreateArgs<CairnRunOptions> | Manifest,
    options?: CairnRunOptions,
  ): Promise<CairnSession>
  resume(state: CairnSessionState): Promise<CairnSession>
}

/**
 * Sandboxes for agents of the OpenAI Agents SDK, each on a layer of its own: it outlives the machine, and is committed or
 * dropped afterwards.
 *
 * @example
 * ```ts
 * const client = cairnSandboxClient({ workspace, make: (workspace) => new LocalSandbox({ workspace }) })
 * await run(agent, 'Fix the test.', { sandbox: { client, options: { layer: 'fix-auth' } } })
 * ```
 */
export function cairnSandboxClient(source: SandboxSource): CairnSandboxClient {
  const { workspace, make } = source
  const { layers } = openWorkspace(workspace)
  const open = (layer: { id: string; path: string }, mountPath: string): Place => ({
    layer: layer.id,
    sandbox: make({ ...workspace, layer: layer.id, path: layer.path, mountPath }),
  })
  const checkpoint = async (layer: string): Promise<SnapshotPointer> => {
    const { id } = await layers.checkpoint(layer)
    return { workspace: workspace.name, layer, checkpoint: id }
  }
  const fork = async (from: SnapshotPointer, mountPath: string, name?: string): Promise<Place> =>
    open(await layers.fork(from.layer, { at: from.checkpoint, name }), mountPath)
  const host = { checkpoint, fork }
  const begin = async (
    { layer: name, snapshot }: CairnRunOptions & { readonly snapshot?: SnapshotSpec },
    mountPath: string,
  ): Promise<Place> => {
    const there = name === undefined ? undefined : await findLayer(layers, name)
    if (there !== undefined) return open(there, mountPath)
    const pointer = await loadSnapshot(snapshot)
    if (pointer !== undefined) return fork(pointer, mountPath, name)
    return open(await layers.create(workspace.path ?? '/', { name }), mountPath)
  }
  return {
    backendId: 'cairn',
    create: async (args = {}, runOptions = {}) => {
      const asked = args instanceof Manifest ? { manifest: args, options: runOptions } : args
      const { options, snapshot } = asked as SandboxClientCreateArgs<CairnRunOptions>
      const manifest = manifestOf(asked.manifest, workspace.mountPath)
      const place = await begin({ ...options, ...(snapshot && { snapshot }) }, manifest.root)
      const { layer, sandbox } = place
      await sandbox.init()
      await writeManifest(sandbox, manifest)
      const environment = await manifest.resolveEnvironment()
      const spec = snapshot && { snapshotSpec: snapshot }
      return new CairnSession(sandbox, { manifest, layer, environment, ...spec }, host)
    },
    resume: async (state) => {
      const place = open(await layers.status(layerOf(state)), state.manifest.root)
      const environment = await state.manifest.resolveEnvironment()
      return new CairnSession(place.sandbox, { ...state, environment }, host)
    },
    delete: async (state) => {
      await layers.abandon(layerOf(state))
    },
    canPersistOwnedSessionState: () => true,
    // The variables may be secrets: a session that is resumed gets them from the manifest of that run.
    serializeSessionState: async (state) => {
      const layer = layerOf(state)
      const spec = state['snapshotSpec'] as SnapshotSpec | undefined
      if (!isRemote(spec)) return { layer }
      const data = encodePointer(await checkpoint(layer))
      const { id } = await spec.store.save({ ...(spec.id && { id: spec.id }), data })
      return { layer, snapshot: { type: 'remote', id } }
    },
    deserializeSessionState: async ({ manifest, ...state }) =>
      ({ ...state, manifest: new Manifest(manifest as ManifestInit) }) as CairnSessionState,
  }
}

function layerOf({ layer }: CairnSessionState): string {
  if (layer !== undefined) return layer
  throw new Error('cannot use the state of the session: it names no layer. Begin a new session.')
}

/** The workspace is mounted at the root of the manifest. */
function manifestOf(given: Manifest | ManifestInit | undefined, mountPath?: string): Manifest {
  if (given instanceof Manifest) return given
  return new Manifest({ ...(mountPath !== undefined && { root: mountPath }), ...given })
}

async function loadSnapshot(spec: SnapshotSpec | undefined): Promise<SnapshotPointer | undefined> {
  if (!isRemote(spec) || spec.id === undefined) return undefined
  if ((await spec.store.exists?.({ id: spec.id })) === false) return undefined
  return decodePointer((await spec.store.load({ id: spec.id })).data)
}

function isRemote(spec: SnapshotSpec | undefined): spec is RemoteSnapshotSpec {
  return spec?.type === 'remote' && 'store' in spec
}
