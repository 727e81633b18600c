import type { SessionReply, SessionRequest } from '@cairn/protocol'

/** One end of a socket, whatever carries it. */
export interface Wire {
  /** How many types of requests the other end says that it knows. */
  readonly requestTypes?: number | undefined
  send(request: SessionRequest): void
  close(): void
  /** Resolves when the other end has everything that was sent before; never if the connection ends first. */
  ping(): Promise<void>
}

export interface WireEvents {
  onReply(reply: SessionReply): void
  /** Called once, whichever end closed it. */
  onClose(): void
}

/** Opens a connection, or rejects when there is none to be had. */
export type Connect = (events: WireEvents) => Promise<Wire>
