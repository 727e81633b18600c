import type { SqlValue } from '../database.ts'

/** Node 22 binds NULL for empty bytes whose buffer has no memory, such as those from another thread or an encoder. */
export function bindable(params: readonly SqlValue[]): SqlValue[] {
  return params.map((value) =>
    value instanceof Uint8Array && value.length === 0 ? oneByte.subarray(0, 0) : value,
  )
}

const oneByte = new Uint8Array(1)
