import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { loadFuseIo } from '../fuse/native.ts'
import { Channel } from './channel.ts'

type Message = { readonly type: 'number'; readonly value: number } | { readonly type: 'text' }

async function makePair(): Promise<[Channel<Message, Message>, Channel<Message, Message>]> {
  const [a, b] = (await loadFuseIo()).socketPair() as [number, number]
  return [new Channel(a), new Channel(b)]
}

describe('channel', () => {
  it('brings messages in order, however many fit into one read', async () => {
    const [here, there] = await makePair()
    const heard: Message[] = []
    there.listen((message) => heard.push(message))
    for (let value = 0; value < 10_000; value++) here.send({ type: 'number', value })
    await here.end()
    await there.closed
    expect(heard).toEqual(Array.from({ length: 10_000 }, (_, value) => ({ type: 'number', value })))
  })

  it('waits for a kind of message', async () => {
    const [here, there] = await makePair()
    const text = there.next((message) => message.type === 'text')
    here.send({ type: 'number', value: 1 })
    here.send({ type: 'text' })
    expect(await text).toEqual({ type: 'text' })
    await here.end()
  })

  it('left to another process: this one takes none of what comes afterwards', async () => {
    const [here, there] = await makePair()
    const reader = spawn('sh', ['-c', 'read go; cat <&3'], {
      stdio: ['pipe', 'pipe', 'inherit', here.fd],
    })
    const said = text(reader.stdout!)
    here.send({ type: 'text' })
    here.leave()
    const heard = await there.next((message) => message.type === 'text')
    expect(heard).toEqual({ type: 'text' })
    for (let value = 0; value < 100; value++) there.send({ type: 'number', value })
    // This process would have read them by now.
    for (let turn = 0; turn < 20; turn++) await setImmediate()
    reader.stdin!.end('go\n')
    await there.end()
    const lines = (await said).trim().split('\n')
    expect(lines.map((line) => (JSON.parse(line) as { value: number }).value)).toEqual(
      Array.from({ length: 100 }, (_, value) => value),
    )
  })

  it('a channel is closed at both ends when one ends; messages sent after that are dropped', async () => {
    const [here, there] = await makePair()
    await here.end()
    await Promise.all([here.closed, there.closed])
    there.send({ type: 'text' })
  })
})
