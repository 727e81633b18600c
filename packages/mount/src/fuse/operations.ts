import { attributeOperations } from './attribute-operations.ts'
import { dataOperations } from './data-operations.ts'
import { directoryOperations } from './directory-operations.ts'
import { lockOperations } from './lock-operations.ts'
import { nameOperations } from './name-operations.ts'
import { opcode } from './opcodes.ts'
import type { AnyOperation } from './operation.ts'

const byOpcode: Readonly<Record<number, AnyOperation>> = {
  ...nameOperations,
  ...attributeOperations,
  ...dataOperations,
  ...directoryOperations,
  ...lockOperations,
  [opcode.destroy]: { name: 'DESTROY', call: () => undefined },
}

/**
 * By number. What is not here is answered with ENOSYS, after which the kernel does without: ACCESS, OPENDIR,
 * POLL, BMAP, STATX, TMPFILE (the program then sees EOPNOTSUPP).
 */
export const operations: readonly (AnyOperation | undefined)[] = Array.from(
  { length: 64 },
  (_, number) => byOpcode[number],
)
