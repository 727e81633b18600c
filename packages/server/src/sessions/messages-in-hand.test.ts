import { expect, it } from 'vitest'
import { MessagesInHand } from './messages-in-hand.ts'

const mib = 1 << 20

class Socket {
  isPaused = false
  pause(): void {
    this.isPaused = true
  }
  resume(): void {
    this.isPaused = false
  }
}

function connect(all: MessagesInHand): {
  socket: Socket
  send: (bytes: number) => () => Promise<void>
} {
  const socket = new Socket()
  const one = all.of(socket)
  const send = (bytes: number): (() => Promise<void>) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const held = one.hold(bytes, promise)
    return () => (resolve(), held)
  }
  return { socket, send }
}

it('a connection with 64 MiB in hand is not read from, until half of that is dealt with', async () => {
  const { socket, send } = connect(new MessagesInHand())
  const dealt = Array.from({ length: 16 }, () => send(4 * mib))
  expect(socket.isPaused).toBe(true)
  for (const deal of dealt.splice(0, 8)) await deal()
  expect(socket.isPaused).toBe(true)
  await dealt.pop()!()
  expect(socket.isPaused).toBe(false)
})

it('small messages count for what they take while they wait', () => {
  const { socket, send } = connect(new MessagesInHand())
  for (let at = 0; at < 50_000; at++) send(1)
  expect(socket.isPaused).toBe(false)
  for (let at = 0; at < 20_000; at++) send(1)
  expect(socket.isPaused).toBe(true)
})

it('where all together have 256 MiB, each may have one, and a quiet one is read from', async () => {
  const all = new MessagesInHand()
  const crowd = Array.from({ length: 6 }, () => connect(all))
  const dealt = crowd.flatMap(({ send }) => Array.from({ length: 12 }, () => send(4 * mib)))
  const quiet = connect(all)
  quiet.send(1000)
  expect(crowd.at(-1)!.socket.isPaused).toBe(true)
  expect(quiet.socket.isPaused).toBe(false)
  for (const deal of dealt) await deal()
  expect(crowd.map(({ socket }) => socket.isPaused)).not.toContain(true)
})
