import type { SessionReply } from '@cairn/protocol'

/** One end of a socket, whatever carries it: a WebSocket, or a simulated wire. */
export interface ClientSocket {
  send(reply: SessionReply): void
  /** Bytes accepted but not yet on the wire. */
  readonly bufferedBytes: number
  close(): void
}
