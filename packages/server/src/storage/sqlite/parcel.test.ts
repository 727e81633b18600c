import { expect, it } from 'vitest'
import { pack, unpack } from './parcel.ts'

it('a parcel gives back what went in: numbers, nothing, bytes, no bytes and parts of larger buffers', () => {
  const part = Buffer.from('abcdef').subarray(2, 4)
  const transactions = [
    [{ sql: 'one', params: [1, null, new Uint8Array([1, 2, 3]), new Uint8Array()], expect: 1 }],
    [],
    [
      { sql: 'two', params: [part, 2] },
      { sql: 'three', params: [] },
    ],
  ]
  const parcel = structuredClone(pack(transactions))
  const plain = [
    [{ sql: 'one', params: [1, null, [1, 2, 3], []], expect: 1 }],
    [],
    [
      { sql: 'two', params: [[0x63, 0x64], 2] },
      { sql: 'three', params: [] },
    ],
  ]
  const shown = unpack(parcel).map((statements) =>
    statements.map(({ params, ...rest }) => ({
      ...rest,
      params: params.map((value) => (value instanceof Uint8Array ? [...value] : value)),
    })),
  )
  expect(shown).toEqual(plain)
})
