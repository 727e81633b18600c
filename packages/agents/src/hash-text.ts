import { createHash } from 'node:crypto'

/** Ids of frameworks may be longer than names in a workspace, and have other letters. */
export function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}
