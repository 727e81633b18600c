import { type Batch, type Op, pathOf, type RootChange, type View } from '@cairn/core'
import {
  formatPath,
  type Ino,
  type LogEntry,
  type LogOperation,
  type Name,
  rootIno,
} from '@cairn/protocol'
import { isoTime } from '../workspaces/clock.ts'

/** A batch as people read it. Paths are those the view has: where things are now, or were last. */
export function describeBatch(view: View, batch: Batch): LogEntry {
  return {
    seq: batch.seq,
    time: isoTime(batch.time),
    actor: batch.actor,
    session: batch.session,
    operations: describeBody(view, batch),
  }
}

function describeBody(view: View, { body, epoch }: Batch): LogOperation[] {
  switch (body.type) {
    case 'ops':
      return body.ops.flatMap((op) => describeOp(view, op))
    case 'root':
      return [describeRoot(body.change)]
    case 'epoch':
      return [{ op: `epoch ${epoch}` }]
    case 'state':
      return [{ op: body.state }]
  }
}

function describeRoot(change: RootChange): LogOperation {
  return {
    op: change.subject === '' ? change.cause : `${change.cause} ${change.subject}`,
    path: '/',
  }
}

function describeOp(view: View, op: Op): LogOperation[] {
  switch (op.type) {
    case 'create':
      return [{ op: op.kind === 'file' ? 'create' : op.kind, ...placeOf(view, op.parent, op.name) }]
    case 'link':
    case 'unlink':
    case 'rmdir':
      return [{ op: op.type, ...placeOf(view, op.parent, op.name) }]
    case 'rename': {
      const { path: to } = placeOf(view, op.newParent, op.newName)
      return [{ op: 'rename', ...placeOf(view, op.parent, op.name), ...(to ? { to } : {}) }]
    }
    // That nobody holds a nameless file any more is nobody's news.
    case 'reap':
      return []
    case 'setattr':
    case 'write':
    case 'fallocate':
    case 'copy':
    case 'setxattr':
    case 'removexattr':
      return [{ op: op.type, ...pathOfIno(view, op.ino) }]
  }
}

function placeOf(view: View, parent: Ino, name: Name): { path?: string } {
  const directory = parent === rootIno ? [] : pathOf(view, parent)
  return directory ? { path: formatPath([...directory, name]) } : {}
}

function pathOfIno(view: View, ino: Ino): { path?: string } {
  const path = pathOf(view, ino)
  return path ? { path: formatPath(path) } : {}
}

/** Whether an operation concerns `path` or something below it. */
export function concerns(operation: LogOperation, path: string): boolean {
  const inside = (other: string | undefined): boolean =>
    other !== undefined && (path === '/' || other === path || other.startsWith(`${path}/`))
  return inside(operation.path) || inside(operation.to)
}
