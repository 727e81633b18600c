import { CairnError } from '@cairn/protocol'

export interface ObjectRange {
  readonly start: number
  /** At least 1. */
  readonly length: number
}

export interface ObjectInfo {
  readonly key: string
  readonly sizeBytes: number
}

/**
 * Large things by key. A key names the same bytes for ever, so nothing here can be stale, and a
 * retry cannot harm. Implementations only store: retrying and measuring are decorators, and callers
 * that know the hash check the content. Keys are one or more parts of `A–Z a–z 0–9 _ - .` joined by
 * slashes, no part begins with a dot; another key is refused with `malformed` before anything
 * happens.
 *
 * All of them reject with `storage_unavailable` when the store fails or does not answer in time.
 */
export interface ObjectStore {
  /**
   * The object is the parts, one after another. Resolves once it would survive a power cut. Putting a key again succeeds: a retry cannot know whether
   * the first attempt arrived. After a rejection the object is there whole or not at all; `storage_full` leaves
   * nothing behind. The bytes may be changed once it has settled.
   */
  put(key: string, ...parts: readonly Uint8Array[]): Promise<void>
  /**
   * The whole object, or a part: shorter where the object ends earlier, empty past its end. Rejects with
   * `blob_missing`, the key as its subject. A truncated answer is `storage_unavailable`, never given.
   */
  get(key: string, range?: ObjectRange): Promise<Uint8Array>
  /** Succeeds also when there is none, because S3 does not tell. */
  delete(key: string): Promise<void>
  /**
   * Objects whose key begins with `prefix`, ascending by key, those after `after`. What is put or deleted
   * meanwhile may be there or not; everything else is there once. The prefix is '' or ends with a slash.
   */
  list(prefix: string, after?: string): AsyncIterable<ObjectInfo>
  /** Lets go of connections. Nothing may be asked afterwards. */
  close(): Promise<void>
}

const keyPattern = /^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/
/** S3 takes 1024 bytes; a prefix of the bucket's needs room, too. */
const keyLengthMax = 512

export function checkKey(key: string): void {
  if (key.length <= keyLengthMax && keyPattern.test(key)) return
  throw new CairnError('malformed', {
    what: `use '${key.slice(0, 100)}' as an object's key`,
    reason: 'it is no path of plain names',
    subject: key.slice(0, 100),
  })
}

export function checkPrefix(prefix: string): void {
  if (prefix !== '') checkKey(prefix.replace(/\/$/, ''))
  if (prefix === '' || prefix.endsWith('/')) return
  throw new CairnError('malformed', {
    what: `list objects under '${prefix}'`,
    reason: 'a prefix ends with a slash',
    subject: prefix,
  })
}

export function objectMissing(key: string, cause?: unknown): CairnError {
  return new CairnError('blob_missing', {
    what: `read object ${key}`,
    reason: 'not stored',
    subject: key,
    cause,
  })
}
