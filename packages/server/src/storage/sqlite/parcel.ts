import type { SqlValue, Statement } from '../database.ts'

type Transactions = readonly (readonly Statement[])[]

/**
 * Transactions on their way to the thread that writes. The bytes of all parameters are in one buffer, which is handed over
 * without a copy: copying each alone takes microseconds, and a transaction may have thousands.
 */
export interface Parcel {
  /** Where a parameter is bytes, it is undefined here. */
  readonly transactions: readonly (readonly PackedStatement[])[]
  /** How long those parameters are, in their order. */
  readonly lengths: readonly number[]
  readonly bytes: ArrayBuffer
}

interface PackedStatement extends Omit<Statement, 'params'> {
  readonly params: readonly (Exclude<SqlValue, Uint8Array> | undefined)[]
}

export function pack(transactions: Transactions): Parcel {
  const values: Uint8Array[] = []
  const packed = transactions.map((statements) =>
    statements.map(({ params, ...statement }) => ({
      ...statement,
      params: params.map((value) => {
        if (!(value instanceof Uint8Array)) return value
        values.push(value)
        return undefined
      }),
    })),
  )
  const lengths = values.map(({ length }) => length)
  const all = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0))
  let at = 0
  for (const value of values) {
    all.set(value, at)
    at += value.length
  }
  return { transactions: packed, lengths, bytes: all.buffer }
}

export function unpack({ transactions, lengths, bytes }: Parcel): Transactions {
  let [next, at] = [0, 0]
  const take = (): Uint8Array => {
    const value = new Uint8Array(bytes, at, lengths[next++])
    at += value.length
    return value
  }
  return transactions.map((statements) =>
    statements.map(({ params, ...statement }) => ({
      ...statement,
      params: params.map((value) => (value === undefined ? take() : value)),
    })),
  )
}
