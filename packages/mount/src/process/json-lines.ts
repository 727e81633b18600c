import type { Socket } from 'node:net'

/**
 * Calls with the message of each line; ends the connection when a line is not JSON. By hand:
 * readline takes U+2028 for the end of a line, too, and a path may have one.
 */
export function hearLines(socket: Socket, hear: (message: unknown) => void): void {
  let rest = ''
  socket.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop()!
    for (const line of lines) {
      const message = parse(line)
      if (message === undefined) return void socket.destroy()
      hear(message)
    }
  })
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

export function sendLine(socket: Socket, message: unknown): void {
  socket.write(`${JSON.stringify(message)}\n`)
}
