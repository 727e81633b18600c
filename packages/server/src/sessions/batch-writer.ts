import {
  type Branch,
  decodeBodyInSteps,
  type Receipt,
  type SubmittedBody,
  type View,
} from '@cairn/core'
import { type ActorId, FewAtOnce, type SessionId, type SessionRequest } from '@cairn/protocol'
import type { SessionScope } from '../access/session-scope.ts'
import type { LeaseKeeper } from '../leases/lease-keeper.ts'
import type { OpenWorkspace } from '../workspaces/open-workspace.ts'
import { mayWrite } from './lease-standing.ts'
import { heldByAnother } from './refusals.ts'
import type { Room } from './room.ts'
import { writeScoped } from './scoped-writer.ts'
import type { RequireGiven, Sharer } from './sharer.ts'
import type { UnusedContent } from './unused-content.ts'

type Submit = Extract<SessionRequest, { type: 'submit' }>

interface BatchWriterParts {
  readonly workspace: OpenWorkspace
  readonly branch: Branch
  readonly keeper: LeaseKeeper
  readonly actor: ActorId
  /** Set when the caller is a token; limits what it can see. */
  readonly scope: SessionScope | undefined
  readonly session: SessionId
  readonly room: Room
  readonly sharer: Sharer | undefined
  readonly unused: UnusedContent | undefined
}

/** Hands a session's batches to the log, over one connection. */
export class BatchWriter {
  readonly #parts: BatchWriterParts
  /** In the order in which they came, however long one is. */
  readonly #decoding = new FewAtOnce(1)

  constructor(parts: BatchWriterParts) {
    this.#parts = parts
  }

  async write(request: Submit): Promise<Receipt> {
    const { sharer, workspace } = this.#parts
    const { nodes } = workspace.stores
    const body = await this.#decoding.pass(() => nodes.run(decodeBodyInSteps(request.body)))
    const { keeper, session } = this.#parts
    const write = (given?: RequireGiven): Promise<Receipt> =>
      keeper.room.whenRoom(session, () => this.#submit(request, body, given))
    return sharer ? sharer.write(body.ops, write) : write()
  }

  async #submit(
    { number, epoch }: Submit,
    { time, ops, toolCall }: SubmittedBody,
    given?: RequireGiven,
  ): Promise<Receipt> {
    const { workspace, branch, keeper, actor, scope, session, room, unused } = this.#parts
    unused?.use(ops)
    const allowed = workspace.checkOf(branch, ops)
    const check = async (view: View): Promise<void> => {
      this.#requireStanding()
      await allowed?.(view)
      await given?.(view)
    }
    const isHolder = keeper.holds(session)
    const author = { session, number, actor, toolCall, time: workspace.notAfterNow(time) }
    const submission = { ...author, epoch, ops, check, line: this }
    if (!scope) return branch.submit(submission)
    const { heldInodes } = keeper
    const holder = isHolder ? { heldByOthers: () => heldInodes.findAll(session) } : undefined
    return writeScoped({ workspace, branch, scope, room, holder }, submission)
  }

  /** The number of an epoch is no secret: what its holder acknowledged must not meet batches of others in it. */
  #requireStanding(): void {
    const { branch, keeper, session, sharer } = this.#parts
    if (!mayWrite({ session, branch, keeper, sharer }, keeper.record))
      throw heldByAnother(session, keeper.record.epoch)
  }
}
