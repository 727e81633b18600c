import { decodeInos, type SessionId } from '@cairn/protocol'
import type { SessionParts } from './session.ts'

/** Notes which files without a name a session has open. A token keeps none alive that it may not know of. */
export async function holdInodes(
  { keeper, scope }: Pick<SessionParts, 'keeper' | 'scope'>,
  session: SessionId,
  bytes: Uint8Array,
): Promise<void> {
  const inos = decodeInos(bytes)
  await keeper.heldInodes.hold(session, scope ? inos.filter((ino) => scope.mayKnow(ino)) : inos)
}
