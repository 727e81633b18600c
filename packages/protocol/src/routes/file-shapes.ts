import { fileKinds } from '../file-kinds.ts'
import {
  boolean,
  integer,
  list,
  merge,
  named,
  object,
  type Of,
  oneField,
  oneOf,
  nullable,
  optional,
  record,
  type Schema,
  tagged,
  text,
} from '../schema/build.ts'
import { actor, path, seq, time } from '../schema/common.ts'

/** Nanoseconds since 1970 as decimal strings: they do not fit into a JSON number. */
const ns = text({ examples: ['1793613600000000000'] })
export const mode = (): Schema<string> =>
  text({ pattern: '^[0-7]{1,4}$', wants: 'octal, such as "0644"', examples: ['0644'] })
const base64 = text({ pattern: '^[\\w+/-]*={0,2}$', wants: 'base64' })

/**
 * Names and paths are bytes, and JSON is text. What has a field `path` has another one, `pathBytes`: the bytes in
 * base64. A request gives one of the two; an answer always has the text, and the bytes when they are not UTF-8.
 */
export type Spelled<Field extends string> =
  | { readonly [key in Field]: string }
  | { readonly [key in `${Field}Bytes`]: string }

const spelled = <Field extends string>(field: Field, example: string): Schema<Spelled<Field>> =>
  oneField({ [field]: text({ examples: [example] }), [`${field}Bytes`]: base64 }) as Schema<
    Spelled<Field>
  >

/** A file may have so many. */
export const tagsMax = 32
const tagName = text({
  pattern: '^[^=\\u0000-\\u001f]{1,60}$',
  wants: '1 to 60 characters without = and control characters',
})
const tagValue = text({
  maxLength: 256,
  pattern: '^[^\\u0000-\\u001f]*$',
  wants: 'text without control characters',
  examples: ['yes'],
})
/** In a query: `reviewed=yes`. */
export const tagPair = text({
  pattern: '^[^=\\u0000-\\u001f]{1,60}=[^\\u0000-\\u001f]{0,256}$',
  wants: 'KEY=VALUE, a key of 1 to 60 and a value of up to 256 characters',
  examples: ['reviewed=yes'],
})
const tagSet = { propertyNames: tagName, maxProperties: 2 * tagsMax } as const

export type Tags = Of<typeof Tags>
export const Tags = named('Tags', record(text(), { examples: [{ reviewed: 'yes' }] }))

export type FileStat = Of<typeof FileStat>
export const FileStat = named(
  'FileStat',
  object({
    /** Absolute, UTF-8; bytes that are no UTF-8 appear as U+FFFD. */
    path: path(),
    /** See `Spelled`. */
    pathBytes: optional(base64),
    kind: oneOf(fileKinds),
    ino: integer({ examples: [42] }),
    /** Bytes of a file or symlink, entries of a directory. */
    size: integer({ examples: [1280] }),
    /** Permission bits in octal: `"0644"`. */
    mode: mode(),
    uid: integer(),
    gid: integer(),
    nlink: integer({ examples: [1] }),
    /** Nanoseconds since 1970 as decimal strings: they do not fit into a JSON number. */
    mtimeNs: ns,
    ctimeNs: ns,
    atimeNs: ns,
    /** Symlinks only. */
    target: optional(text()),
    targetBytes: optional(base64),
    /** Absent where there are none. */
    tags: optional(Tags),
    etag: text({ examples: ['"42-17"'] }),
  }),
)

/** One entry of a listing. */
export type FileEntry = Of<typeof FileEntry>
export const FileEntry = named(
  'FileEntry',
  object({
    ...FileStat.fields,
    name: text({ examples: ['main.ts'] }),
    /** See `Spelled`. */
    nameBytes: optional(base64),
  }),
)

/** What a mutation did. */
export type ChangeReceipt = Of<typeof ChangeReceipt>
export const ChangeReceipt = named(
  'ChangeReceipt',
  object({
    /** The branch's sequence number of it. */
    seq: seq(),
    /** What is there now, where the operation leaves something. */
    stat: optional(FileStat),
  }),
)

/** Inodes of the entries of an archive, in their order: a run is of entries whose numbers follow one another. */
export type ImportedInodes = Of<typeof ImportedInodes>
const ImportedInodes = list(
  object({
    first: integer({ examples: [42] }),
    count: integer({ examples: [12] }),
    /** That of a directory is older than what was put into it later. */
    ctimeNs: ns,
  }),
)

/** What an import of an archive made. */
export type ImportReceipt = Of<typeof ImportReceipt>
export const ImportReceipt = named(
  'ImportReceipt',
  object({
    /** The branch's sequence number of it. */
    seq: seq(),
    files: integer({ examples: [12] }),
    directories: integer({ examples: [3] }),
    symlinks: integer({ examples: [1] }),
    /** Hard links to files of the same archive. */
    links: integer({ examples: [0] }),
    bytes: integer({ examples: [4096] }),
    /** Where the request asks for them. A repeated request, which did nothing, is answered without. */
    inodes: optional(ImportedInodes),
  }),
)

const parents = optional(boolean({ examples: [true] }))
const to = spelled('to', '/repo/src/new.ts')

/** What each operation takes besides its path. */
export const operationBodies = {
  mkdir: object({ mode: optional(mode()), parents }),
  write: object({
    /** Text, or bytes in base64. */
    text: optional(text({ examples: ['hello\n'] })),
    base64: optional(base64),
    mode: optional(mode()),
    /** Those that are not named stay. */
    tags: optional(record(tagValue, tagSet)),
    parents,
    ifMatch: optional(text()),
    ifAbsent: optional(boolean()),
  }),
  remove: object({ recursive: optional(boolean()) }),
  move: merge(
    to,
    object({
      /** Fail when there is something at `to`. */
      noReplace: optional(boolean()),
      parents,
    }),
  ),
  copy: merge(to, object({ parents })),
  chmod: object({ mode: mode() }),
  /** Null takes a tag away; those that are not named stay. */
  tag: object({ tags: record(nullable(tagValue), tagSet) }),
  symlink: merge(spelled('target', '../main.ts'), object({ parents })),
  link: merge(to, object({ parents })),
  touch: object({
    mtimeNs: optional(text({ pattern: '^-?\\d{1,19}$', wants: 'a decimal string' })),
  }),
}

type Bodies = typeof operationBodies
type Numbered = {
  [Op in keyof Bodies]: { readonly op: Op } & Spelled<'path'> & Of<Bodies[Op]>
}

/** One operation of a batch; all of them happen, or none. */
export type BatchOperation = Numbered[keyof Numbered]
export const BatchOperation = named(
  'BatchOperation',
  tagged(
    'op',
    Object.entries(operationBodies).map(([op, body]) =>
      merge(object({ op: oneOf([op]) }), spelled('path', '/repo/src/main.ts'), body),
    ),
  ) as Schema<BatchOperation>,
)

export const batchOperationsMax = 1000

export const uploadBody = merge(
  spelled('path', '/data/model.bin'),
  object({
    size: optional(integer({ examples: [1_000_000] })),
    mode: optional(mode()),
    tags: optional(record(tagValue, tagSet)),
    parents,
    ifMatch: optional(text()),
    ifAbsent: optional(boolean()),
  }),
)

export type Upload = Of<typeof Upload>
export const Upload = named(
  'Upload',
  object({
    id: text({ examples: ['up_2f1e'] }),
    blockBytes: integer({ examples: [4_194_304] }),
    /** Numbers of the blocks that have arrived. */
    blocks: list(integer()),
  }),
)

/** One change in the log, as people read it. */
export type LogOperation = Of<typeof LogOperation>
export const LogOperation = named(
  'LogOperation',
  object({
    op: text({ examples: ['write'] }),
    /** Where the thing is now, or was last; undefined when it has gone and nothing tells. */
    path: optional(path()),
    pathBytes: optional(base64),
    /** The other end of a rename or copy. */
    to: optional(text()),
    toBytes: optional(base64),
  }),
)

export type LogEntry = Of<typeof LogEntry>
export const LogEntry = named(
  'LogEntry',
  object({
    seq: seq(),
    time: time(),
    /** The id of the key or token that was used. */
    actor: actor(),
    session: text({ examples: ['http'] }),
    /** The call of an agent's tool, if it said so. */
    toolCall: optional(text({ examples: ['call-7'] })),
    /** The layer in whose log it stands, where it came in by a commit. */
    layer: optional(text()),
    operations: list(LogOperation),
  }),
)

/** What goes over the event stream: one for each batch that concerns the asked path. */
export type ChangeEvent = Of<typeof ChangeEvent>
export const ChangeEvent = named(
  'ChangeEvent',
  object({ seq: seq(), time: time(), actor: actor(), operations: list(LogOperation) }),
)

/** Who changed a part of a file last. */
export type BlameOrigin = Of<typeof BlameOrigin>
export const BlameOrigin = named(
  'BlameOrigin',
  object({
    seq: seq(),
    /** The layer in whose log it stands; absent for the branch that was asked about. */
    layer: optional(text()),
    time: time(),
    actor: actor(),
    session: text({ examples: ['http'] }),
    toolCall: optional(text({ examples: ['call-7'] })),
    /** What happened: `write`, `commit`, `rollback` and the like. */
    op: text({ examples: ['write'] }),
  }),
)

/** Lines of text, or a binary file as a whole. */
export type BlamePart = Of<typeof BlamePart>
export const BlamePart = named(
  'BlamePart',
  object({
    /** The number of the first line, from 1; absent for binary files. */
    line: optional(integer({ examples: [1] })),
    count: optional(integer({ examples: [12] })),
    /** The lines, with their ends; what is not UTF-8 appears as U+FFFD. */
    text: optional(text()),
    /** In `origins`; absent where the log does not reach back so far. */
    origin: optional(integer({ examples: [0] })),
  }),
)

export type Blame = Of<typeof Blame>
export const Blame = named(
  'Blame',
  object({
    path: path(),
    kind: oneOf(['text', 'binary']),
    size: integer({ examples: [1280] }),
    origins: list(BlameOrigin),
    parts: list(BlamePart),
    /** Who deleted the file, if it has gone: then this is how it was last. */
    deleted: optional(BlameOrigin),
  }),
)
