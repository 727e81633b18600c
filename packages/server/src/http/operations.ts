import type { Steps } from '@cairn/core'
import type { ByteString } from '@cairn/protocol'
import type { Of, operationBodies } from '@cairn/protocol/routes'
import {
  changeMode,
  makeDirectory,
  makeLink,
  makeSymlink,
  move,
  touch,
  writeFile,
  type WriteFileOptions,
} from '../files/changes.ts'
import { changeTags } from '../files/tags.ts'
import type { TreeEdit } from '../files/tree-edit.ts'
import { copy, remove } from '../files/trees.ts'
import { timeOf } from '../ports/clock.ts'
import { spelledBytes, spelledPath } from './raw-path.ts'

/** A change to make; it says nothing until it is applied. */
export type PathOperation = (edit: TreeEdit) => void | Steps<void>

/** What each verb takes. */
export type OperationBodies = {
  [Op in keyof typeof operationBodies]: Of<(typeof operationBodies)[Op]>
}
type Reader<Body> = (body: Body, path: ByteString) => PathOperation

/** What a JSON body may ask for, by the name of the verb. */
const readers: { readonly [Op in keyof OperationBodies]: Reader<OperationBodies[Op]> } = {
  mkdir: ({ mode, parents = false }, path) => {
    const options = { mode: mode === undefined ? 0o755 : parseInt(mode, 8), parents }
    return (edit) => makeDirectory(edit, path, options)
  },
  write: (body, path) => {
    const options = writeOptions(body)
    return (edit) => void writeFile(edit, path, options)
  },
  remove:
    ({ recursive = false }, path) =>
    (edit) =>
      remove(edit, path, recursive),
  move: (body, path) => {
    const to = spelledPath(body, 'to')
    const { noReplace = false, parents = false } = body
    return (edit) => move(edit, path, to, { noReplace, parents })
  },
  copy: (body, path) => {
    const to = spelledPath(body, 'to')
    return (edit) => copy(edit, path, to, body.parents ?? false)
  },
  chmod:
    ({ mode }, path) =>
    (edit) =>
      changeMode(edit, path, parseInt(mode, 8)),
  tag:
    ({ tags }, path) =>
    (edit) =>
      changeTags(edit, path, tags),
  symlink: (body, path) => {
    const target = spelledBytes(body, 'target')
    return (edit) => makeSymlink(edit, path, target, body.parents ?? false)
  },
  link: (body, path) => {
    const to = spelledPath(body, 'to')
    return (edit) => makeLink(edit, path, to, body.parents ?? false)
  },
  touch: ({ mtimeNs }, path) => {
    const time = mtimeNs === undefined ? undefined : timeOf(BigInt(mtimeNs))
    return (edit) => touch(edit, path, time)
  },
}

export function readOperation<Op extends keyof OperationBodies>(
  op: Op,
  body: OperationBodies[Op],
  path: ByteString,
): PathOperation {
  const reader: Reader<OperationBodies[Op]> = readers[op]
  return reader(body, path)
}

function writeOptions(body: OperationBodies['write']): WriteFileOptions {
  const { text, base64 = '', mode, tags, ifMatch, ifAbsent = false, parents = false } = body
  const bytes = text === undefined ? Buffer.from(base64, 'base64') : Buffer.from(text)
  return {
    pieces: bytes.length > 0 ? [{ offset: 0, data: { type: 'bytes', bytes } }] : [],
    size: bytes.length,
    parents,
    ifAbsent,
    ...(mode === undefined ? {} : { mode: parseInt(mode, 8) }),
    ...(ifMatch === undefined ? {} : { ifMatch }),
    ...(tags ? { tags } : {}),
  }
}
