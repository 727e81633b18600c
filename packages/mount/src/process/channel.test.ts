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

  it('is closed at both ends when one ends; messages sent after that are dropped', async () => {
    const [here, there] = await makePair()
    await here.end()
    await Promise.all([here.closed, there.closed])
    there.send({ type: 'text' })
  })
})
