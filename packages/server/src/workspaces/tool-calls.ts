import type { SessionId } from '@cairn/protocol'

/**
 * The log has no place for tool calls, and needs none: a session is any text, and stands in every batch. What follows a
 * blank in it is the call; neither ids nor keys have blanks.
 */
export function withToolCall(session: SessionId, toolCall: string | undefined): SessionId {
  return toolCall === undefined ? session : (`${session} ${toolCall}` as SessionId)
}

export function splitSession(session: SessionId): { session: string; toolCall?: string } {
  const blank = session.indexOf(' ')
  if (blank < 0) return { session }
  return { session: session.slice(0, blank), toolCall: session.slice(blank + 1) }
}
