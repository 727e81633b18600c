import { decodeSentBatch } from '@cairn/core'
import type { Ino, SessionReply, SessionRequest } from '@cairn/protocol'
import type { ModelClient } from './model-client.ts'
import type { ModelWorld } from './model-world.ts'
import { directoriesIn, listed, tagOf } from '../simulation/trees/promises.ts'

/**
 * All that decides what can happen next, as far as it can be seen from outside: two worlds with one fingerprint are
 * explored once. What is left out are numbers that only grow, and how far a step of the server has come between two
 * messages, which its questions tell.
 */
export function fingerprint(world: ModelWorld): string {
  const { clients, keeper, promises } = world
  const { record, sharing } = keeper
  const directories = directoriesIn(promises.tree)
  const text = [
    [record.holder, record.coHolders, record.recalled, record.epoch, record.deadline?.ms === 0],
    record.writers.map(({ session, expiresAtMs }) => [session, expiresAtMs > 0]),
    directories.map((ino) => [ino, sharing.noted(ino)]),
    clients.map(({ id }) => world.reservations.of(id).files),
    [promises.length, listed(promises.tree), world.isOverdue],
    [world.pendingRequests, world.requests, world.troubles],
    clients.map((client) => describeClient(client, directories)),
  ]
  return nameSessions(JSON.stringify(text), clients)
}

function describeClient(client: ModelClient, directories: readonly Ino[]): unknown {
  const { mount, way } = client
  const { session, sharing } = mount
  const { isDead, isFrozen, hasLapsed, hasLeft, isInDoubt, isBusy, done, unsent } = client
  return [
    [isDead, isFrozen, hasLapsed, hasLeft, isInDoubt, isBusy, done, unsent],
    [mount.standing, session.standing, session.canAcknowledge, session.leaseEpoch ?? 0],
    [session.isConnected, session.pendingCount, session.lastNumber, mount.unsettled],
    [mount.seq, mount.isWhole && listed(mount.view), sharing.isUnshared, sharing.isAllFresh],
    directories.map((ino) => [mount.acknowledgesIn(ino), sharing.isFresh(ino)]),
    client.acknowledged.map(({ tag, outcome }) => [tag, outcome === 'pending']),
    way.toServer.map(({ message }) => describe(message)),
    way.toClient.map(({ message }) => describe(message)),
  ]
}

/** Without the numbers of questions, which only grow, and hashes, which differ from run to run. */
function describe(message: SessionRequest | SessionReply): unknown {
  if (message.type === 'batch') {
    const { seq, session, body } = decodeSentBatch(message.bytes)
    return [seq, session, body.type === 'ops' ? body.ops.map(tagOf) : body.type]
  }
  return Object.entries(message)
    .filter(([key]) => !['id', 'request', 'hash'].includes(key))
    .map(([key, value]) => (value instanceof Uint8Array ? [key, ...value] : [key, value]))
}

/** Ids of sessions differ from run to run. */
function nameSessions(text: string, clients: readonly ModelClient[]): string {
  const names = new Map<string, string>(clients.map(({ who, id }) => [id, who]))
  return text.replaceAll(/[\w-]*[0-9a-f]{8}-[0-9a-f-]{27}/g, (id) => names.get(id) ?? 'other')
}
