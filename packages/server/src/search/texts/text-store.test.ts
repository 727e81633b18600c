import { expect, it } from 'vitest'
import { TextStore } from './text-store.ts'

const megabyte = 1 << 20
const slab = 8 * megabyte
const text = (length: number): Uint8Array => Buffer.alloc(length, 'x')

it('texts lie one behind the other, with a newline between them', () => {
  const store = new TextStore({ bytesMax: slab })
  const first = store.add('a', Buffer.from('one'))
  const second = store.add('b', Buffer.from('two'))
  expect(Buffer.from(first.buffer, 0, 8).toString()).toBe('one\ntwo\n')
  expect(second.byteOffset).toBe(4)
  expect(store.find('a')).toBe(first)
  expect(store.add('b', Buffer.from('two'))).toBe(second)
  expect(store.find('c')).toBeUndefined()
})

it('a search of more than there is room for keeps what it began with', () => {
  const store = new TextStore({ bytesMax: slab })
  const names = Array.from({ length: 12 }, (_, at) => `file ${at}`)
  for (const name of names) store.add(name, text(megabyte))
  expect(names.filter((name) => store.find(name)).length).toBe(7)
  expect(store.find('file 0')).toBeDefined()
  expect(store.bytes).toBe(slab)
})

it('what was not used for a minute makes room, and after ten it goes', () => {
  let nowMs = 0
  const store = new TextStore({ bytesMax: slab, nowMs: () => nowMs })
  store.add('old', text(slab - 1))
  nowMs = 61_000
  store.add('new', text(megabyte))
  expect(store.find('old')).toBeUndefined()
  expect(store.find('new')).toBeDefined()
  nowMs += 601_000
  store.tidy()
  expect(store.find('new')).toBeUndefined()
  expect(store.bytes).toBe(0)
})

it('what is larger than its memory stays where it is', () => {
  const bytes = text(megabyte)
  expect(new TextStore({ bytesMax: 0 }).add('a', bytes)).toBe(bytes)
})
