import { expect, it } from 'vitest'
import { RequestMemory, requestMemoryBytes } from './request-memory.ts'

it('the next process finds what was parked and not answered, and the request at hand, once', () => {
  const memory = new ArrayBuffer(requestMemoryBytes)
  const before = new RequestMemory(memory)
  const [one, two] = [before.note(1, 0), before.note(2, 7)]
  before.note(3, 0)
  before.clear(one)
  before.note(4, 0)
  before.clear(two)
  before.request.bytes.writeUInt32LE(9, 8)
  const next = new RequestMemory(memory)
  expect(next.takeLeft()).toEqual([
    [9, 0],
    [4, 0],
    [3, 0],
  ])
  expect(next.takeLeft()).toEqual([[9, 0]])
})

it('more that are parked at once than there are notes for are answered like the others', () => {
  const memory = new RequestMemory()
  const notes = Array.from({ length: 5000 }, (_, i) => memory.note(i + 1, 0))
  expect(new Set(notes).size).toBe(5000)
  expect(memory.takeLeft()).toHaveLength(4096)
  for (const note of notes) memory.clear(note)
  expect(memory.takeLeft()).toEqual([])
})
