import { describe, expect, it } from 'vitest'
import { makeHistory, type History, type Op } from './history.ts'
import { Oracle } from './oracle.ts'
import { shrink } from './shrink.ts'

function op(client: Op['client'], type: Op['type'], path: string, text = ''): Op {
  return { client, type, path, text, branch: 'main', other: '', offset: 0 }
}

/** Each turn: operations, and their answers. Gives the first fault. */
function judge(...turns: readonly (readonly (readonly [Op, string])[])[]): string | undefined {
  const oracle = new Oracle()
  for (const turn of turns) {
    const [ops, answers] = [turn.map(([each]) => each), turn.map(([, answer]) => answer)]
    const fault = oracle.judge({ ops }, answers)
    if (fault !== undefined) return fault
  }
  return undefined
}

const read = (text: string): readonly [Op, string] => [op('m2', 'read', 'repo/a'), `text ${text}`]

describe('the model of many clients', () => {
  it('an acknowledged append that is not read is a fault', () => {
    const append: readonly [Op, string] = [op('m1', 'append', 'repo/a', '1'), 'ok']
    expect(judge([append], [append], [read('11')])).toBeUndefined()
    expect(judge([append], [append], [read('1')])).toContain('text 11')
  })

  it('appends that ran together came in either order, and in one', () => {
    const both = ['m1', 'http'] as const
    const appends = both.map((client) => [op(client, 'append', 'repo/a', client), 'ok'] as const)
    expect(judge(appends, [read('m1http')])).toBeUndefined()
    expect(judge(appends, [read('httpm1')])).toBeUndefined()
    expect(judge(appends, [read('m1')])).toBeDefined()
    expect(judge(appends, [read('m1http')], [read('httpm1')])).toBeDefined()
  })

  it.each(['exclusive', 'mkdir', 'link', 'rename'] as const)(
    '%s has exactly one winner',
    (type) => {
      const made = [[op('m1', 'write', 'box/x', 'x'), 'ok'] as const]
      const tries = (answers: readonly string[]): (readonly [Op, string])[] =>
        answers.map((answer, index) => {
          const path = type === 'link' || type === 'rename' ? 'box/x' : 'box/d'
          const other = type === 'rename' ? `box/${index}` : 'box/y'
          return [{ ...op(index === 0 ? 'm1' : 'm2', type, path), other }, answer]
        })
      expect(judge(made, tries(['ok', 'refused']))).toBeUndefined()
      expect(judge(made, tries(['refused', 'ok']))).toBeUndefined()
      expect(judge(made, tries(['ok', 'ok']))).toBeDefined()
      expect(judge(made, tries(['refused', 'refused']))).toBeDefined()
    },
  )

  it('what has no answer was done or was not, and stays so', () => {
    const lost = [[op('http', 'write', 'repo/a', '1'), 'unknown'] as const]
    const none = [op('m2', 'read', 'repo/a'), 'refused'] as const
    expect(judge(lost, [read('1')], [read('1')])).toBeUndefined()
    expect(judge(lost, [none], [none])).toBeUndefined()
    expect(judge(lost, [none], [read('1')])).toBeDefined()
  })

  it('a commit brings what the layer did, and nothing else of its tree', () => {
    const onLayer: Op = { ...op('http', 'write', 'repo/b', 'layer'), branch: 'one' }
    const commit: Op = { ...op('sdk', 'commit', ''), branch: 'one' }
    const before = [
      [op('m1', 'write', 'repo/a', '1'), 'ok'],
      [onLayer, 'ok'],
    ] as const
    const list = (names: string) => [[op('m1', 'list', 'repo'), `names ${names}`] as const]
    expect(judge(before, [[commit, 'ok']], list('a b'))).toBeUndefined()
    expect(judge(before, [[commit, 'ok']], list('b'))).toBeDefined()
  })

  it('a listing beside changes has every name that was left alone, once', () => {
    const made = [[op('m1', 'write', 'repo/a', ''), 'ok'] as const]
    const beside = (names: string): (readonly [Op, string])[] => [
      [op('m1', 'write', 'repo/b'), 'ok'],
      [op('m2', 'list', 'repo'), `names ${names}`],
    ]
    for (const names of ['a', 'a b']) expect(judge(made, beside(names))).toBeUndefined()
    for (const names of ['b', 'a a', 'a c']) expect(judge(made, beside(names))).toBeDefined()
  })
})

describe('a history', () => {
  it('a history is the same for the same seed', () => {
    expect(makeHistory(7, 50)).toEqual(makeHistory(7, 50))
    expect(makeHistory(7, 50)).not.toEqual(makeHistory(8, 50))
  })

  it('a history that fails is shortened to the turns and operations that it takes', async () => {
    const history = makeHistory(1, 60)
    const wanted = [history[17]!.ops[0]!, history[44]!.ops[0]!]
    const fails = async (shorter: History): Promise<boolean> =>
      wanted.every((each) => shorter.some(({ ops }) => ops.includes(each)))
    const shortest = await shrink(history, fails, { tries: 1, endMs: Infinity })
    expect(shortest).toEqual(wanted.map((each) => ({ ops: [each] })))
  })
})
