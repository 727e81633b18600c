import type { Op } from '@cairn/core'

const told = {
  create: ['parent', 'name', 'kind'],
  link: ['parent', 'name', 'ino'],
  unlink: ['parent', 'name'],
  rmdir: ['parent', 'name'],
  rename: ['parent', 'name', 'newParent', 'newName', 'mode'],
} as const

/** Whether a change of names is among these: the same but for when, and under which number, it was made. */
export function wasDone(before: readonly Op[], op: Op): boolean {
  const fields: readonly string[] | undefined = told[op.type as keyof typeof told]
  if (!fields) return false
  return before.some(
    (other) =>
      other.type === op.type &&
      fields.every((field) => valueOf(other, field) === valueOf(op, field)),
  )
}

function valueOf(op: Op, field: string): unknown {
  return (op as unknown as Readonly<Record<string, unknown>>)[field]
}
