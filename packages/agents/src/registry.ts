import { allowsSomewhere, type Grant } from '@cairn/protocol'
import type { Tool, ToolShell } from './tool.ts'
import {
  attemptCommit,
  attemptCompare,
  attemptCreate,
  attemptDiscard,
  attemptList,
} from './tools/attempts.ts'
import { bash } from './tools/bash.ts'
import { checkpoint, rollback } from './tools/checkpoint.ts'
import { diff } from './tools/diff.ts'
import { edit, multiEdit } from './tools/edit.ts'
import { glob } from './tools/glob.ts'
import { grep } from './tools/grep.ts'
import { log } from './tools/log.ts'
import { ls } from './tools/ls.ts'
import { move } from './tools/move.ts'
import { read } from './tools/read.ts'
import { remove } from './tools/remove.ts'
import { sql } from './tools/sql.ts'
import { todoRead, todoWrite } from './tools/todo.ts'
import { undo } from './tools/undo.ts'
import { write } from './tools/write.ts'

/** Every tool, in the order in which it is listed everywhere. */
export const tools: readonly Tool[] = [
  read,
  write,
  edit,
  multiEdit,
  ls,
  glob,
  grep,
  move,
  remove,
  log,
  diff,
  sql,
  checkpoint,
  rollback,
  undo,
  attemptCreate,
  attemptList,
  attemptCompare,
  attemptCommit,
  attemptDiscard,
  todoRead,
  todoWrite,
  bash,
]

/** What a token may use somewhere; an owner's key may use all. `bash` is for places that have a shell. */
export function toolsFor(grant: Grant | undefined, shell?: ToolShell): readonly Tool[] {
  const here = tools.filter(({ needsShell = false }) => !needsShell || shell !== undefined)
  if (grant === undefined) return here
  return here.filter(({ needs }) => needs.some((operation) => allowsSomewhere(grant, operation)))
}
