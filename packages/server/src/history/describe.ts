import {
  type Batch,
  namesOf as pathNames,
  type Op,
  pathOf,
  type RootChange,
  sessionIds,
  type Steps,
  type View,
} from '@cairn/core'
import {
  type ByteString,
  type Ino,
  type LogEntry,
  type LogOperation,
  type Name,
  rootIno,
} from '@cairn/protocol'
import { spellPath } from '../files/spelling.ts'
import { isoTime } from '../ports/clock.ts'

/** A batch as people read it. Paths are those the view has: where things are now, or were last. */
export function* describeBatch(view: View, batch: Batch): Steps<LogEntry> {
  return {
    seq: batch.seq,
    time: isoTime(batch.time),
    actor: batch.actor,
    ...sessionIds.originOf(batch),
    operations: yield* describeBody(view, batch),
  }
}

function* describeBody(view: View, { body, epoch }: Batch): Steps<LogOperation[]> {
  switch (body.type) {
    case 'ops':
      return yield* describeOps(view, body.ops)
    case 'root':
      return [describeRoot(body.change)]
    case 'epoch':
      return [{ op: `epoch ${epoch}` }]
    case 'state':
      return [{ op: body.state }]
  }
}

function* describeOps(view: View, ops: readonly Op[]): Steps<LogOperation[]> {
  const described: LogOperation[] = []
  for (const op of ops) {
    described.push(...describeOp(view, op))
    yield
  }
  return described
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
      const to = namesOf(view, op.newParent, op.newName)
      const place = placeOf(view, op.parent, op.name)
      return [{ op: 'rename', ...place, ...(to ? spellPath('to', to) : {}) }]
    }
    // The end of a nameless file is not worth an event.
    case 'reap':
      return []
    case 'setattr':
    case 'write':
    case 'append':
    case 'fallocate':
    case 'copy':
    case 'setxattr':
    case 'removexattr':
      return [{ op: op.type, ...pathOfIno(view, op.ino) }]
  }
}

type NamedPath = Pick<LogOperation, 'path' | 'pathBytes'>

function placeOf(view: View, parent: Ino, name: Name): NamedPath {
  const names = namesOf(view, parent, name)
  return names ? spellPath('path', names) : {}
}

function namesOf(view: View, parent: Ino, name: Name): readonly Name[] | undefined {
  const directory = parent === rootIno ? [] : pathOf(view, parent)
  return directory && [...directory, name]
}

function pathOfIno(view: View, ino: Ino): NamedPath {
  const names = pathOf(view, ino)
  return names ? spellPath('path', names) : {}
}

/** Tells whether an operation concerns a path or, with `below`, something below it. */
export function concerning(
  path: ByteString,
  depth: 'exactly' | 'below',
): (operation: LogOperation) => boolean {
  const isAt = (other: string, path: string): boolean =>
    other === path || (depth === 'below' && other.startsWith(path === '/' ? '/' : `${path}/`))
  // Where bytes are no text, neither is a path below them: it comes as bytes, too.
  const { path: text, pathBytes } = spellPath('path', pathNames(path))
  const isIt = (other: string | undefined, base64: string | undefined): boolean => {
    if (other === undefined) return false
    if (base64 !== undefined) return isAt(Buffer.from(base64, 'base64').toString('latin1'), path)
    return pathBytes === undefined && isAt(other, text)
  }
  return (operation) =>
    isIt(operation.path, operation.pathBytes) || isIt(operation.to, operation.toBytes)
}
