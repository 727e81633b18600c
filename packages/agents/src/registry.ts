import { allowsSomewhere, type Grant } from '@cairn/protocol'
import type { Tool } from './tool.ts'
import {
  attemptCommit,
  attemptCompare,
  attemptCreate,
  attemptDiscard,
  attemptList,
} from './tools/attempts.ts'
import { checkpoint, rollback } from './tools/checkpoint.ts'
import { diff } from './tools/diff.ts'
import { edit, multiEdit } from './tools/edit.ts'
import { glob } from './tools/glob.ts'
import { log } from './tools/log.ts'
import { ls } from './tools/ls.ts'
import { move } from './tools/move.ts'
import { read } from './tools/read.ts'
import { remove } from './tools/remove.ts'
import { todoRead, todoWrite } from './tools/todo.ts'
import { write } from './tools/write.ts'

/** Every tool, in the order in which it is listed everywhere. */
export const tools: readonly Tool[] = [
  read,
  write,
  edit,
  multiEdit,
  ls,
  glob,
  move,
  remove,
  log,
  diff,
  checkpoint,
  rollback,
  attemptCreate,
  attemptList,
  attemptCompare,
  attemptCommit,
  attemptDiscard,
  todoRead,
  todoWrite,
]

/** What a token may use somewhere; an owner's key may use all. */
export function toolsFor(grant: Grant | undefined): readonly Tool[] {
  if (grant === undefined) return tools
  return tools.filter(({ needs }) => needs.some((operation) => allowsSomewhere(grant, operation)))
}
