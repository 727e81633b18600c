import type { Steps } from '@cairn/core'
import { type ByteString, CairnError } from '@cairn/protocol'
import {
  changeMode,
  makeDirectory,
  makeLink,
  makeSymlink,
  move,
  touch,
  writeFile,
  type WriteOptions,
} from '../files/changes.ts'
import type { TreeEdit } from '../files/tree-edit.ts'
import { copy, remove } from '../files/trees.ts'
import { timeOf } from '../ports/clock.ts'
import type { Fields } from './fields.ts'

/** A change to make; it says nothing until it is applied. */
export type Operation = (edit: TreeEdit) => void | Steps<void>

/** What a JSON body may ask for, by the name of the verb. Each reads its fields and gives what to do. */
const readers: Readonly<Record<string, (fields: Fields, path: ByteString) => Operation>> = {
  mkdir: (fields, path) => {
    const options = { mode: fields.mode('mode') ?? 0o755, parents: fields.flag('parents') }
    return (edit) => makeDirectory(edit, path, options)
  },
  write: (fields, path) => {
    const options = readWrite(fields)
    return (edit) => void writeFile(edit, path, options)
  },
  remove: (fields, path) => {
    const recursive = fields.flag('recursive')
    return (edit) => remove(edit, path, recursive)
  },
  move: (fields, path) => {
    const to = fields.path('to')
    const options = { noReplace: fields.flag('noReplace'), parents: fields.flag('parents') }
    return (edit) => move(edit, path, to, options)
  },
  copy: (fields, path) => {
    const [to, parents] = [fields.path('to'), fields.flag('parents')]
    return (edit) => copy(edit, path, to, parents)
  },
  chmod: (fields, path) => {
    const mode = fields.mode('mode')
    if (mode === undefined)
      throw new CairnError('invalid_argument', { what: 'chmod', reason: 'mode is missing' })
    return (edit) => changeMode(edit, path, mode)
  },
  symlink: (fields, path) => {
    const target = fields.bytes('target')
    const parents = fields.flag('parents')
    return (edit) => makeSymlink(edit, path, target, parents)
  },
  link: (fields, path) => {
    const [to, parents] = [fields.path('to'), fields.flag('parents')]
    return (edit) => makeLink(edit, path, to, parents)
  },
  touch: (fields, path) => {
    const ns = fields.text('mtimeNs')
    if (ns !== undefined && !/^-?\d{1,19}$/.test(ns))
      throw new CairnError('invalid_argument', {
        what: 'touch',
        reason: 'mtimeNs must be a decimal string',
      })
    return (edit) => touch(edit, path, ns === undefined ? undefined : timeOf(BigInt(ns)))
  },
}

export function readOperation(verb: string, fields: Fields, path: ByteString): Operation {
  const reader = Object.hasOwn(readers, verb) ? readers[verb] : undefined
  if (!reader)
    throw new CairnError('invalid_argument', {
      what: `do '${verb}'`,
      reason: `there is ${Object.keys(readers).join(', ')}`,
    })
  const operation = reader(fields, path)
  fields.end()
  return operation
}

function readWrite(fields: Fields): WriteOptions {
  const text = fields.text('text')
  const base64 = fields.base64('base64') ?? ''
  const bytes = text === undefined ? Buffer.from(base64, 'latin1') : Buffer.from(text)
  const mode = fields.mode('mode')
  const ifMatch = fields.text('ifMatch')
  return {
    pieces: bytes.length > 0 ? [{ offset: 0, data: { type: 'bytes', bytes } }] : [],
    size: bytes.length,
    parents: fields.flag('parents'),
    ifAbsent: fields.flag('ifAbsent'),
    ...(mode === undefined ? {} : { mode }),
    ...(ifMatch === undefined ? {} : { ifMatch }),
  }
}
