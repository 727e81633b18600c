import { CairnError } from './errors.ts'
import type { Hash, Ino } from './ids.ts'
import { hashBytes } from './ids.ts'
import { countInos } from './inos.ts'
import { Reader } from './reader.ts'
import { Writer } from './writer.ts'

/**
 * What goes over a session's socket: binary messages, the type in the first byte, then the fields in the order of
 * these tables. Only ever append types, and fields never: a new need is a new type or a new version. Operations, inodes
 * and batches travel as they are stored. docs/internals/protocol.md tells the whole story.
 */
export const sessionVersion = 2
export const messageBytesMax: number = 5 << 20

/** How a field looks in memory. */
interface FieldTypes {
  readonly number: number
  readonly ino: Ino
  readonly inos: readonly Ino[]
  readonly text: string
  /** A name, a path or nothing, as a byte string. */
  readonly name: string
  readonly hash: Hash
  readonly bytes: Uint8Array
}

type Table = Readonly<Record<string, Readonly<Record<string, keyof FieldTypes>>>>

type MessageOf<T extends Table> = {
  [Type in keyof T]: { readonly type: Type } & {
    readonly [Field in keyof T[Type]]: FieldTypes[T[Type][Field]]
  }
}[keyof T]

/** From a session to the server. Those with an `id` are answered under it. */
const requests = {
  /**
   * `mode` is read, write, or share: a writer that gives single directories back. `session` goes on with an old one, or
   * is empty; `seq` is the newest batch known; `path` is the directory to be found, or empty.
   */
  hello: {
    version: 'number',
    workspace: 'text',
    branch: 'text',
    mode: 'text',
    session: 'text',
    seq: 'number',
    path: 'name',
  },
  /** `body` is time and operations as a batch has them. */
  submit: { number: 'number', epoch: 'number', body: 'bytes' },
  inode: { id: 'number', ino: 'ino' },
  /** Names after `after`, which is empty at the start. */
  directory: { id: 'number', ino: 'ino', after: 'name', limit: 'number' },
  content: { id: 'number', ino: 'ino', offset: 'number', length: 'number' },
  blob: { id: 'number', bytes: 'bytes' },
  inodes: { id: 'number', count: 'number' },
  /** Everything acknowledged under the lease of that epoch is at the server: it may go. */
  released: { epoch: 'number' },
  renew: {},
  /** Operations that were acknowledged under a lease that was lost. They go to a rescue layer. */
  rescue: { id: 'number', number: 'number', epoch: 'number', body: 'bytes' },
  bye: {},
  /** Whole directories at and below `ino`, nearest first, up to about `limit` entries. */
  subtree: { id: 'number', ino: 'ino', limit: 'number' },
  /** Everything up to `seq` has been taken in, by whatever caches the session serves as well. */
  seen: { seq: 'number' },
  /** Answered when the other writers have seen everything up to `seq`. */
  barrier: { id: 'number', seq: 'number' },
  /** What a change of the whole tree at `seq` changed. */
  changes: { id: 'number', seq: 'number' },
  /** The first offset from `offset` on that lies in data, or with `hole` 1 in a hole. */
  seek: { id: 'number', ino: 'ino', offset: 'number', hole: 'number' },
  /**
   * A lock on the bytes from `start` to `end`. `kind` is posix or flock; `mode` is read, write or
   * none, which unlocks. With `wait` 1 the answer comes when no other lock is in the way.
   */
  lock: {
    id: 'number',
    ino: 'ino',
    kind: 'text',
    owner: 'text',
    start: 'number',
    end: 'number',
    mode: 'text',
    wait: 'number',
    pid: 'number',
  },
  /** Whose lock would be in the way. */
  blocker: {
    id: 'number',
    ino: 'ino',
    kind: 'text',
    owner: 'text',
    start: 'number',
    end: 'number',
    mode: 'text',
  },
  /** All locks of the session. */
  locks: { id: 'number' },
  /** Ends the waiting of a `lock` that was asked under that id. */
  cancel: { question: 'number' },
  /**
   * Instead of `hello`, for a branch as it was at checkpoint `at`. `branch` may be empty where `at` is enough; `session`
   * is what an earlier welcome gave, or empty.
   */
  revisit: {
    version: 'number',
    workspace: 'text',
    branch: 'text',
    at: 'text',
    session: 'text',
    path: 'name',
  },
  /** What a commit of the layer would meet now. */
  conflicts: { id: 'number' },
  /** Which inodes have no name. */
  nameless: { id: 'number' },
  /** All inodes without a name that the session has open: a number for each. */
  hold: { inos: 'bytes' },
  /** Answered when the server has all that was acknowledged in these directories. */
  look: { id: 'number', inos: 'inos' },
  /**
   * From the holder: it wants to acknowledge in these directories, or in all of them if none is named. Answered when the
   * others have forgotten them.
   */
  claim: { id: 'number', inos: 'inos' },
  /** What `yield` or `forget` asked for under that id is done. */
  done: { request: 'number' },
  /**
   * Some bytes of a message that is larger than a connection lately carried. `message` is its SHA-256 and `total` its
   * length. Answered by `arrived`; taken as the message itself once all of it is there.
   */
  piece: { message: 'hash', total: 'number', offset: 'number', bytes: 'bytes' },
  /** What programs read first below `ino`: a trace. The next mounts of the directory are sent it ahead. Not answered. */
  trace: { ino: 'ino', bytes: 'bytes' },
  /**
   * What earlier mounts of `ino` read first, from the item `from` of their trace on, in about so many bytes.
   */
  ahead: { id: 'number', ino: 'ino', from: 'number', bytes: 'number' },
} as const
requests satisfies Table

/** How many types of requests this program knows. A server says it, because each older one ends what it cannot read. */
export const requestTypes: number = Object.keys(requests).length
/** The header in which a server says it. */
export const requestTypesHeader = 'cairn-request-types'

/** Whether a server that knows the first so many types of requests knows this one. */
export function isKnownRequest(type: SessionRequest['type'], types: number): boolean {
  return Object.keys(requests).indexOf(type) < types
}

/** From the server to a session. */
const replies = {
  welcome: {
    version: 'number',
    session: 'text',
    seq: 'number',
    epoch: 'number',
    leaseMs: 'number',
    root: 'ino',
  },
  /** `shown` is 1 if no other session has to take it in before the program gets its answer. */
  receipt: { number: 'number', seq: 'number', hash: 'hash', shown: 'number' },
  /** `code` is one of the error table, or an errno; then the words are empty. So it is in `failure` and `goodbye`. */
  refused: {
    number: 'number',
    code: 'text',
    what: 'text',
    reason: 'text',
    hint: 'text',
    subject: 'text',
  },
  answer: { id: 'number', bytes: 'bytes' },
  failure: {
    id: 'number',
    code: 'text',
    what: 'text',
    reason: 'text',
    hint: 'text',
    subject: 'text',
  },
  /** The next batch of the log, in order, whichever session wrote it; but see `own`. */
  batch: { bytes: 'bytes' },
  /** This session alone writes: it may acknowledge before the server has seen it. */
  lease: { epoch: 'number' },
  /**
   * Another client wants to write: acknowledge nothing more, submit everything, then send
   * `released`.
   */
  recall: { epoch: 'number' },
  /** The server answers each write. */
  shared: { epoch: 'number' },
  goodbye: { code: 'text', what: 'text', reason: 'text', hint: 'text', subject: 'text' },
  /** The next batch of the log is the one this session submitted under that number: it has the bytes. */
  own: { number: 'number', seq: 'number' },
  /**
   * How much larger the tree may become, counted after all batches that were sent before this, and how large in all.
   * What nothing limits is the largest number there is.
   */
  room: { bytes: 'number', files: 'number', maxBytes: 'number', maxFiles: 'number' },
  /** Whatever the session changes lies at that path or below: it is the layer's. Before any standing. */
  within: { path: 'name' },
  /** As `lease`, beside other writers: it acknowledges in a directory only after it has claimed it, or made it. */
  among: { epoch: 'number' },
  /** As `shared`, beside a holder: what is known of a directory counts only after a look at it. */
  beside: { epoch: 'number' },
  /** Another client wants to see or change these directories. Submit what was acknowledged there, then say `done`. */
  yield: { id: 'number', inos: 'inos' },
  /** The holder is about to change these directories: what is cached of them counts no more. Then say `done`. */
  forget: { id: 'number', inos: 'inos' },
  /** So much of that message has arrived, over this connection and those before. */
  arrived: { message: 'hash', bytes: 'number' },
  /**
   * So much of the room the session may count on; the rest is for others. Counted as `room` is. With an `id` other than
   * 0 it was more before: submit what was acknowledged beyond it, then say `done`.
   */
  share: { id: 'number', bytes: 'number', files: 'number' },
} as const
replies satisfies Table

/** For the test that compares them with docs/internals/protocol.md. */
export const sessionTables: { readonly requests: Table; readonly replies: Table } = {
  requests,
  replies,
}

export type SessionRequest = MessageOf<typeof requests>
export type SessionReply = MessageOf<typeof replies>

/** Valid until the writer is used again. */
export function encodeRequest(request: SessionRequest, writer: Writer = new Writer()): Uint8Array {
  return encode(requests, request, writer)
}

export function decodeRequest(bytes: Uint8Array): SessionRequest {
  return decode(requests, bytes) as SessionRequest
}

export function encodeReply(reply: SessionReply): Uint8Array {
  // It has the right size from the start: growing would copy megabytes several times.
  const bytes = reply.type === 'answer' || reply.type === 'batch' ? reply.bytes.length : 0
  return encode(replies, reply, new Writer(256 + bytes))
}

export function decodeReply(bytes: Uint8Array): SessionReply {
  return decode(replies, bytes) as SessionReply
}

function encode(table: Table, message: { readonly type: string }, writer: Writer): Uint8Array {
  writer.reset().u8(Object.keys(table).indexOf(message.type))
  const values = message as unknown as Readonly<Record<string, unknown>>
  for (const [field, type] of Object.entries(table[message.type]!))
    write(writer, type, values[field])
  return writer.view
}

function decode(table: Table, bytes: Uint8Array): object {
  if (bytes.length > messageBytesMax)
    throw new CairnError('too_large', {
      what: 'read the session message',
      reason: `it has ${bytes.length} bytes, ${messageBytesMax} are allowed`,
    })
  const reader = new Reader(bytes, 'session message')
  const number = reader.u8()
  const type = Object.keys(table)[number]
  if (type === undefined) throw reader.malformed(`type ${number}`)
  const message: Record<string, unknown> = { type }
  for (const [field, kind] of Object.entries(table[type]!)) message[field] = read(reader, kind)
  reader.end()
  return message
}

function write(writer: Writer, type: keyof FieldTypes, value: unknown): void {
  switch (type) {
    case 'number':
    case 'ino':
      writer.varint(value as number)
      return
    case 'inos':
      writer.varint((value as readonly Ino[]).length)
      for (const ino of value as readonly Ino[]) writer.varint(ino)
      return
    case 'text':
      writer.text(value as string)
      return
    case 'name':
      writer.byteString(value as string)
      return
    case 'hash':
      writer.rawByteString(value as Hash)
      return
    case 'bytes':
      writer.bytes(value as Uint8Array)
      return
  }
}

function read(reader: Reader, type: keyof FieldTypes): unknown {
  switch (type) {
    case 'number':
    case 'ino':
      return reader.varint()
    case 'inos':
      return Array.from({ length: countInos(reader) }, () => reader.varint())
    case 'text':
      return reader.text()
    case 'name':
      return reader.byteString()
    case 'hash':
      return reader.rawByteString(hashBytes)
    case 'bytes':
      return reader.bytes()
  }
}
