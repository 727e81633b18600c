import type { Op } from '@cairn/core'

const told = {
  create: ['parent', 'name', 'kind'],
  link: ['parent', 'name', 'ino'],
  unlink: ['parent', 'name'],
  rmdir: ['parent', 'name'],
  rename: ['parent', 'name', 'newParent', 'newName', 'mode'],
} as const

export function changesNames(op: Op): boolean {
  return op.type in told
}

/** The newest of these that is this change of names, but for when, and under which number, it was made. */
export function findDone(before: readonly Op[], op: Op): Op | undefined {
  const fields: readonly string[] | undefined = told[op.type as keyof typeof told]
  return (
    fields &&
    before.findLast(
      (other) =>
        other.type === op.type &&
        fields.every((field) => valueOf(other, field) === valueOf(op, field)),
    )
  )
}

function valueOf(op: Op, field: string): unknown {
  return (op as unknown as Readonly<Record<string, unknown>>)[field]
}
