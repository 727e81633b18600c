import type { Checkpoint } from '@cairn/core'
import {
  CairnError,
  formatHash,
  type SessionRequest,
  sessionVersion,
  toFailure,
} from '@cairn/protocol'
import { isShown } from '../layers/layer-names.ts'
import type { SessionScope } from '../access/session-scope.ts'
import { checkpointMissing } from '../points/errors.ts'
import { findPlaceAt, type LayerPlace } from '../points/references.ts'
import type { OpenWorkspace } from '../workspaces/open-workspace.ts'
import type { ClientSocket } from './connection.ts'
import { outOfPlace } from './refusals.ts'
import { findDirectory, pastPlace, type ReadPlace } from './place.ts'
import { answerBytesOf, answerRead, type ReadRequest } from './reads.ts'
import { UnreadAnswers } from './unread-answers.ts'

type Revisit = Extract<SessionRequest, { type: 'revisit' }>
type Moment = LayerPlace & { readonly checkpoint: Checkpoint }

interface PastParts {
  readonly workspace: OpenWorkspace
  readonly scope: SessionScope | undefined
  readonly leaseMs: number
}

/**
 * A connected reader of a checkpoint. The past does not move: nothing is sent to it but answers, and nothing of it is
 * kept anywhere.
 */
export class PastSession {
  readonly #connection: ClientSocket
  readonly #place: ReadPlace
  readonly #unread: UnreadAnswers
  #isOpen = true

  private constructor(connection: ClientSocket, place: ReadPlace) {
    this.#connection = connection
    this.#place = place
    this.#unread = new UnreadAnswers(connection, place.workspace.clock, () => !this.#isOpen)
    place.workspace.observe.session?.('read', 1)
  }

  static async open(
    { workspace, scope, leaseMs }: PastParts,
    connection: ClientSocket,
    revisit: Revisit,
  ): Promise<PastSession> {
    const moment = await findMoment(workspace, withOwnLayer(revisit, scope))
    if (scope && !isShown(scope.grant, moment.id, moment.record?.path ?? '/'))
      throw checkpointMissing(revisit.at, revisit.branch)
    const place = pastPlace(workspace, moment.branch, moment.checkpoint, scope)
    const root = await findDirectory(place, revisit.path)
    const [version, session, seq] = [sessionVersion, nameOf(moment), place.seq]
    connection.send({ type: 'welcome', version, session, seq, epoch: 0, leaseMs, root })
    return new PastSession(connection, place)
  }

  async handle(request: SessionRequest): Promise<void> {
    if (request.type === 'bye') return this.close()
    if (request.type === 'hello' || request.type === 'revisit') throw outOfPlace(request.type)
    if (request.type === 'submit')
      return this.#connection.send({ type: 'refused', number: request.number, ...isPast })
    if (!('id' in request)) return
    const { id } = request
    if (!isAboutFiles(request)) return this.#connection.send({ type: 'failure', id, ...isPast })
    await this.#unread.make(answerBytesOf(request), () => this.#answer(request))
  }

  async close(): Promise<void> {
    if (this.#isOpen) this.#place.workspace.observe.session?.('read', -1)
    this.#isOpen = false
    this.#connection.close()
  }

  async #answer(request: ReadRequest): Promise<void> {
    const { id } = request
    try {
      this.#connection.send({ type: 'answer', id, bytes: await answerRead(this.#place, request) })
    } catch (error) {
      this.#connection.send({ type: 'failure', id, ...toFailure(error) })
    }
  }
}

const isPast = toFailure(
  new CairnError('read_only', {
    what: 'write to a checkpoint',
    reason: 'a checkpoint does not change',
  }),
)

function isAboutFiles(request: SessionRequest): request is ReadRequest {
  return ['inode', 'directory', 'subtree', 'content', 'seek'].includes(request.type)
}

/** A token that is bound to a layer and names none means that one, as it was. */
function withOwnLayer(revisit: Revisit, scope: SessionScope | undefined): Revisit {
  return revisit.branch === '' ? { ...revisit, branch: scope?.grant.layer ?? '' } : revisit
}

/** By the name it was given before, if it was: a label may be another checkpoint's by now. */
async function findMoment(
  workspace: OpenWorkspace,
  { branch, at, session }: Revisit,
): Promise<Moment> {
  const [layer, id] = session.split(' ')
  const place = id
    ? await findPlaceAt(workspace, layer, id)
    : await findPlaceAt(workspace, branch === '' ? undefined : branch, at)
  const { checkpoint } = place
  const moment = checkpoint && { ...place, checkpoint }
  // A layer has another base tree after a rebase. A client that has seen the first must not mix in
  // the second.
  if (moment && (session === '' || session === nameOf(moment))) return moment
  throw checkpointMissing(at, place.id)
}

/** Neither ids nor hashes have blanks. */
function nameOf({ id, checkpoint }: Moment): string {
  return `${id} ${checkpoint.id} ${formatHash(checkpoint.snapshot.root)}`
}
