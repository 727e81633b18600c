/**
 * The shapes of the HTTP API's JSON, once for server, SDK and command line. docs/reference/http.md tells what
 * each route does with them.
 */

import type { FileKind } from './file-kinds.ts'

/**
 * Names and paths are bytes, and JSON is text. What has a field `path` has another one, `pathBytes`: the bytes in
 * base64. A request gives one of the two; an answer always has the text, and the bytes when they are not UTF-8.
 */
export type Spelled<Field extends string> =
  | { readonly [key in Field]: string }
  | { readonly [key in `${Field}Bytes`]: string }

export interface FileStat {
  /** Absolute, UTF-8; bytes that are no UTF-8 appear as U+FFFD. */
  readonly path: string
  /** See `Spelled`. */
  readonly pathBytes?: string
  readonly kind: FileKind
  readonly ino: number
  /** Bytes of a file or symlink, entries of a directory. */
  readonly size: number
  /** Permission bits in octal: `"0644"`. */
  readonly mode: string
  readonly uid: number
  readonly gid: number
  readonly nlink: number
  /** Nanoseconds since 1970 as decimal strings: they do not fit into a JSON number. */
  readonly mtimeNs: string
  readonly ctimeNs: string
  readonly atimeNs: string
  /** Symlinks only. */
  readonly target?: string
  readonly targetBytes?: string
  readonly etag: string
}

export interface Page<Item> {
  readonly items: readonly Item[]
  /** Give it as `cursor` to go on; absent at the end. */
  readonly next?: string
}

/** One entry of a listing. */
export interface FileEntry extends FileStat {
  readonly name: string
  /** See `Spelled`. */
  readonly nameBytes?: string
}

/** What a mutation did. */
export interface ChangeReceipt {
  /** The branch's sequence number of it. */
  readonly seq: number
  /** What is there now, where the operation leaves something. */
  readonly stat?: FileStat
}

/** What an import did. */
export interface ImportReceipt {
  /** The branch's sequence number of it. */
  readonly seq: number
  readonly files: number
  readonly directories: number
  readonly symlinks: number
  /** Hard links to files of the same archive. */
  readonly links: number
  readonly bytes: number
}

/** One operation of a batch; all of them happen, or none. */
export type BatchOperation = Spelled<'path'> &
  (
    | { readonly op: 'mkdir'; readonly mode?: string; readonly parents?: boolean }
    | {
        readonly op: 'write'
        /** Text, or bytes in base64. */
        readonly text?: string
        readonly base64?: string
        readonly mode?: string
        readonly parents?: boolean
        readonly ifMatch?: string
        readonly ifAbsent?: boolean
      }
    | { readonly op: 'remove'; readonly recursive?: boolean }
    | (Spelled<'to'> & {
        readonly op: 'move'
        /** Fail when there is something at `to`. */
        readonly noReplace?: boolean
        readonly parents?: boolean
      })
    | (Spelled<'to'> & { readonly op: 'copy'; readonly parents?: boolean })
    | { readonly op: 'chmod'; readonly mode: string }
    | (Spelled<'target'> & { readonly op: 'symlink'; readonly parents?: boolean })
    | (Spelled<'to'> & { readonly op: 'link'; readonly parents?: boolean })
  )

/** One change in the log, as people read it. */
export interface LogOperation {
  readonly op: string
  /** Where the thing is now, or was last; undefined when it has gone and nothing tells. */
  readonly path?: string
  readonly pathBytes?: string
  /** The other end of a rename or copy. */
  readonly to?: string
  readonly toBytes?: string
}

export interface LogEntry {
  readonly seq: number
  readonly time: string
  /** The id of the key or token that was used. */
  readonly actor: string
  readonly session: string
  /** The call of an agent's tool, if it said so. */
  readonly toolCall?: string
  /** The layer in whose log it stands, where it came in by a commit. */
  readonly layer?: string
  readonly operations: readonly LogOperation[]
}

/** Who changed a part of a file last. */
export interface BlameOrigin {
  readonly seq: number
  /** The layer in whose log it stands; absent for the branch that was asked about. */
  readonly layer?: string
  readonly time: string
  readonly actor: string
  readonly session: string
  readonly toolCall?: string
  /** What happened: `write`, `commit`, `rollback` and the like. */
  readonly op: string
}

/** Lines of text, or a binary file as a whole. */
export interface BlamePart {
  /** The number of the first line, from 1; absent for binary files. */
  readonly line?: number
  readonly count?: number
  /** The lines, with their ends; what is not UTF-8 appears as U+FFFD. */
  readonly text?: string
  /** In `origins`; absent where the log does not reach back so far. */
  readonly origin?: number
}

export interface Blame {
  readonly path: string
  readonly kind: 'text' | 'binary'
  readonly size: number
  readonly origins: readonly BlameOrigin[]
  readonly parts: readonly BlamePart[]
  /** Who took the file away, if it has gone: then this is how it was last. */
  readonly deleted?: BlameOrigin
}

export interface Upload {
  readonly id: string
  readonly blockBytes: number
  /** Numbers of the blocks that have arrived. */
  readonly blocks: readonly number[]
}

/** What goes over the event stream: one for each batch that concerns the asked path. */
export interface ChangeEvent {
  readonly seq: number
  readonly time: string
  readonly actor: string
  readonly operations: readonly LogOperation[]
}
