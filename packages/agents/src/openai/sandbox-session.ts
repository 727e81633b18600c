import type { Editor, ToolOutputImage } from '@openai/agents'
import {
  type Entry,
  type ExecCommandArgs,
  type ExposedPortEndpoint,
  type ListDirectoryArgs,
  Manifest,
  type ReadFileArgs,
  type SandboxDirectoryEntry,
  type SandboxExecResult,
  type SandboxSession,
  type SandboxSessionState,
  type ViewImageArgs,
  type WorkspaceArchiveData,
  type WriteStdinArgs,
} from '@openai/agents/sandbox'
import type { Sandbox } from '@cairn/sandbox'
import { listKinds, lookAt, readIfThere } from '../exec/files.ts'
import { hostUrl } from '../exec/host-url.ts'
import { imageTypeOf } from '../text/media-type.ts'
import { Commands, describeResult } from './commands.ts'
import { editorOf } from './editor.ts'
import { writeEntry, writeManifest } from './manifest.ts'
import { decodePointer, encodePointer, type SnapshotPointer } from './snapshots.ts'

export interface CairnSessionState extends SandboxSessionState {
  /** What a session of a client writes is in this layer, and stays there when the session has ended. */
  layer?: string
}

/** A machine, and the layer that is mounted in it. */
export interface Place {
  readonly layer: string
  readonly sandbox: Sandbox
}

/** What a session with a layer of its own asks of its client. */
export interface SessionHost {
  readonly checkpoint: (layer: string) => Promise<SnapshotPointer>
  /** A machine on a new layer that begins there. */
  readonly fork: (from: SnapshotPointer, mountPath: string) => Promise<Place>
}

const imageBytesMax = 10 << 20

/**
 * A session in a sandbox that is there already, for `sandbox.session` of a run. Paths are relative to where the workspace is
 * mounted.
 *
 * @example
 * ```ts
 * await run(agent, 'Fix the test.', { sandbox: { session: sandboxSession(sandbox) } })
 * ```
 */
export function sandboxSession(sandbox: Sandbox): CairnSession {
  return new CairnSession(sandbox, { manifest: new Manifest({ root: sandbox.workDir }) })
}

export class CairnSession implements SandboxSession<CairnSessionState> {
  state: CairnSessionState
  readonly #host: SessionHost | undefined
  readonly #commands = new Commands()
  #sandbox: Sandbox

  constructor(sandbox: Sandbox, state: CairnSessionState, host?: SessionHost) {
    this.#sandbox = sandbox
    this.state = state
    this.#host = host
  }

  async start(): Promise<void> {
    await this.#sandbox.init()
  }

  async running(): Promise<boolean> {
    return (await this.#sandbox.status()).state === 'running'
  }

  /** Everything is at the server when it resolves. The layer stays: commit it, or drop it. */
  async shutdown(): Promise<void> {
    await this.#sandbox.dispose()
  }

  supportsPty(): boolean {
    return true
  }

  async exec(args: ExecCommandArgs): Promise<SandboxExecResult> {
    refuseUser(args.runAs)
    return this.#commands.exec(this.#sandbox, args, this.state.environment ?? {})
  }

  async execCommand(args: ExecCommandArgs): Promise<string> {
    return describeResult(await this.exec(args))
  }

  async writeStdin(args: WriteStdinArgs): Promise<string> {
    return describeResult(await this.#commands.write(args))
  }

  createEditor(runAs?: string): Editor {
    refuseUser(runAs)
    return editorOf(this.#sandbox)
  }

  async readFile({ path, runAs, maxBytes }: ReadFileArgs): Promise<Uint8Array> {
    refuseUser(runAs)
    return (await this.#sandbox.fs.readBytes(path)).subarray(0, maxBytes)
  }

  async viewImage({ path, runAs }: ViewImageArgs): Promise<ToolOutputImage> {
    refuseUser(runAs)
    const data = await readIfThere(this.#sandbox, path)
    const mediaType = imageTypeOf(path)
    if (data === undefined) throw new Error(`cannot view ${path}: not found`)
    if (mediaType === undefined) throw new Error(`cannot view ${path}: unsupported image format`)
    if (data.length > imageBytesMax) throw new Error(`cannot view ${path}: exceeds the 10 MB limit`)
    return { type: 'image', image: { data: new Uint8Array(data), mediaType } }
  }

  async listDir({ path, runAs }: ListDirectoryArgs): Promise<SandboxDirectoryEntry[]> {
    refuseUser(runAs)
    const entries = await listKinds(this.#sandbox, path)
    if (entries === undefined) throw new Error(`cannot list ${path}: not found`)
    return entries.map(({ name, kind }) => ({
      name,
      path: `${path.replace(/\/$/, '')}/${name}`,
      type: kind === 'directory' ? 'dir' : kind === 'file' ? 'file' : 'other',
    }))
  }

  async pathExists(path: string): Promise<boolean> {
    return (await lookAt(this.#sandbox, path)) !== undefined
  }

  async directoryExists(path: string): Promise<boolean> {
    return (await lookAt(this.#sandbox, path))?.kind === 'directory'
  }

  async materializeEntry({
    path,
    entry,
  }: {
    readonly path: string
    readonly entry: Entry
  }): Promise<void> {
    await writeEntry(this.#sandbox, path, entry)
  }

  async applyManifest(manifest: Manifest): Promise<void> {
    await writeManifest(this.#sandbox, manifest)
    const environment = await manifest.resolveEnvironment()
    this.state.environment = { ...this.state.environment, ...environment }
  }

  /** A pointer of some hundred bytes, whatever is in the workspace. */
  async persistWorkspace(): Promise<Uint8Array> {
    const { host, layer } = this.#ownLayer()
    return encodePointer(await host.checkpoint(layer))
  }

  /** Goes on in a new layer, on a new machine. */
  async hydrateWorkspace(data: WorkspaceArchiveData): Promise<void> {
    const { host } = this.#ownLayer()
    const place = await host.fork(decodePointer(data), this.state.manifest.root)
    await this.#sandbox.dispose()
    this.#sandbox = place.sandbox
    this.state.layer = place.layer
    await this.#sandbox.init()
  }

  #ownLayer(): { readonly host: SessionHost; readonly layer: string } {
    const { layer } = this.state
    if (this.#host !== undefined && layer !== undefined) return { host: this.#host, layer }
    throw new Error(
      'cannot keep or restore the session: it has no layer of its own. Make it with cairnSandboxClient.',
    )
  }

  async resolveExposedPort(port: number): Promise<ExposedPortEndpoint> {
    const { hostname, protocol, port: outside } = new URL(hostUrl(this.#sandbox, port))
    const tls = protocol === 'https:'
    return { host: hostname, port: Number(outside) || (tls ? 443 : 80), tls }
  }
}

function refuseUser(runAs: string | undefined): void {
  if (runAs !== undefined)
    throw new Error(
      `cannot act as ${runAs}: commands run as the user of the machine. Leave out runAs.`,
    )
}
