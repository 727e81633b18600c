import type { Ino } from '@cairn/protocol'
import { describe, expect, it } from 'vitest'
import { ReadTrace } from './read-trace.ts'

const [directory, file, other] = [2, 3, 4] as Ino[] as [Ino, Ino, Ino]
const blockBytes = 256 << 10

function makeTrace(clock = { ms: 0 }): ReadTrace {
  return new ReadTrace({ usedDirectories: () => [directory], nowMs: () => clock.ms })
}

describe('what programs read first', () => {
  it('names each block once, behind the directories', () => {
    const trace = makeTrace()
    trace.note(file, 0, 10)
    trace.note(file, blockBytes - 1, blockBytes + 1)
    trace.note(file, 5, 10)
    expect(trace.take()).toEqual([
      { ino: directory, block: undefined },
      { ino: file, block: 0 },
      { ino: file, block: 1 },
    ])
  })

  it('ends ten seconds after the first file was read, however late that was', () => {
    const clock = { ms: 60_000 }
    const trace = makeTrace(clock)
    trace.note(file, 0, 10)
    clock.ms += 10_000
    trace.note(other, 0, 10)
    clock.ms++
    trace.note(5 as Ino, 0, 10)
    expect(trace.take().map(({ ino }) => ino)).toEqual([directory, file, other])
  })

  it('what programs read first has 32 MiB at most', () => {
    const trace = makeTrace()
    for (let at = 0; at < 1000; at++) trace.note(file, at * blockBytes, (at + 1) * blockBytes)
    expect(trace.take()).toHaveLength(1 + 128)
  })
})
