import type { WorkspaceKeeper } from '@cairn/server'
import { appendFile, commit, createLayer, findLayer, rebase, rollBack } from '@cairn/server/testing'
import { type ByteString, isCairnError, isFsError } from '@cairn/protocol'
import type { Chance } from '../model/chance.ts'
import type { Scheduler } from './scheduler.ts'
import { owner, type Server } from './server.ts'
import { encodeToken } from './shared-log.ts'
import type { Trace } from './trace.ts'

type RequestType = 'create' | 'append' | 'commit' | 'rebase' | 'rollback'

/** A request without a session, and what its sender was told. */
export interface LayerRequest {
  readonly tag: number
  readonly type: RequestType
  /** Undefined for main. */
  readonly layer: string | undefined
  readonly startMs: number
  endMs: number
  outcome: 'pending' | 'done' | 'refused' | { readonly bad: string }
}

export interface LayerWorkParts {
  readonly servers: readonly Server[]
  readonly scheduler: Scheduler
  readonly chance: Chance
  readonly trace: Trace
  readonly nextTag: () => number
}

type Workspace = Awaited<ReturnType<WorkspaceKeeper['open']>>

const layersMax = 4
const retryMs = 200

/** The file of a layer, in which only its own tokens are. So no two layers are ever in conflict. */
export function fileOf(layer: string | undefined): string {
  return layer === undefined ? 'LOG' : `layer-${layer}`
}

/**
 * Sends requests about layers and appends, as SDKs do: the same request under the same key, to any server, until there
 * is an answer. Nothing waits for anything, so requests for one layer meet.
 */
export class LayerWork {
  readonly requests: LayerRequest[] = []
  readonly #parts: LayerWorkParts

  constructor(parts: LayerWorkParts) {
    this.#parts = parts
  }

  get isSettled(): boolean {
    return this.requests.every(({ outcome }) => outcome !== 'pending')
  }

  /** To the file in main that sessions append to, too. */
  append(): void {
    void this.#send('append', undefined)
  }

  /** Something about some layer. */
  act(): void {
    const { chance } = this.#parts
    const layers = this.requests.flatMap(({ type, layer }) => (type === 'create' ? [layer] : []))
    if (layers.length === 0 || (layers.length < layersMax && chance.oneIn(6)))
      return void this.#send('create', `${layers.length}`)
    const type = chance.choose(['append', 'append', 'commit', 'rebase', 'rollback'] as const)
    void this.#send(type, chance.choose(layers))
  }

  async #send(type: RequestType, layer: string | undefined): Promise<void> {
    const { scheduler, nextTag, trace } = this.#parts
    const [tag, startMs] = [nextTag(), scheduler.nowMs]
    const request: LayerRequest = { tag, type, layer, startMs, endMs: 0, outcome: 'pending' }
    this.requests.push(request)
    trace.note(() => `request #${tag}: ${type} ${fileOf(layer)}`)
    while (request.outcome === 'pending') {
      const outcome = await this.#try(request)
      trace.note(() => `request #${tag}: ${JSON.stringify(outcome)}`)
      request.endMs = scheduler.nowMs
      if (outcome !== 'again') request.outcome = outcome
      else await scheduler.sleep(retryMs)
    }
  }

  async #try(request: LayerRequest): Promise<LayerRequest['outcome'] | 'again'> {
    try {
      const server = this.#parts.chance.choose(this.#parts.servers)
      const answer = await server.within(async (workspaces) =>
        take(await workspaces.open(owner, 'w'), request),
      )
      return answer === 'died' ? 'again' : 'done'
    } catch (error) {
      if (isCairnError(error, 'storage_unavailable')) return 'again'
      // Closed by its commit, or not made yet.
      const isOrdinary =
        isCairnError(error, 'layer_closed') || isCairnError(error, 'branch_missing')
      return isOrdinary || isFsError(error) ? 'refused' : { bad: String(error) }
    }
  }
}

async function take(workspace: Workspace, { tag, type, layer }: LayerRequest): Promise<unknown> {
  const asker = { actor: 'key_1' as never, idempotencyKey: `${tag}` }
  const id = `work-${layer}`
  switch (type) {
    case 'create':
      return createLayer(workspace, asker, { id, path: '/' })
    case 'commit':
      return commit(workspace, asker, id, { message: '', mergeText: false, checkpoint: undefined })
    case 'rebase':
      return rebase(workspace, asker, id, { message: '', mergeText: false })
    case 'rollback':
      return rollBack(workspace, asker, id, {})
    case 'append': {
      const { branch } = await findLayer(workspace, layer === undefined ? 'main' : id)
      const pieces = [{ offset: 0, data: { type: 'bytes', bytes: encodeToken(tag) } as const }]
      const path = `/${fileOf(layer)}` as ByteString
      return workspace.paths.change(branch, asker, (edit) =>
        appendFile(edit, path, { pieces, parents: false }),
      )
    }
  }
}
