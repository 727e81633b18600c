import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'

const silentBeatsMax = 3

/**
 * Says now and then that this server is there, and ends a socket whose other end has said nothing for three times as
 * long: a network that is gone says nothing. Nor is anything heard while it is not read from. Bytes are counted, not messages: a large one may take long.
 */
export function keepAlive(socket: WebSocket, raw: Socket, heartbeatMs: number): void {
  let [heardBytes, silentBeats] = [raw.bytesRead, 0]
  const timer = setInterval(() => {
    const isSilent = raw.bytesRead === heardBytes && !socket.isPaused
    silentBeats = isSilent ? silentBeats + 1 : 0
    heardBytes = raw.bytesRead
    if (silentBeats >= silentBeatsMax) socket.terminate()
    else socket.ping()
  }, heartbeatMs)
  socket.on('close', () => clearInterval(timer))
}
