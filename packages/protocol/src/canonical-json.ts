/** What JSON can say. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json | undefined }

/**
 * The one spelling of a value: no blanks, keys in the order of their UTF-16 code units, strings and numbers as
 * JavaScript writes them (RFC 8785). What is undefined is left out. Throws a TypeError for what has no such spelling:
 * half a surrogate pair, or a number that is none.
 */
export function canonicalJson(value: Json): string {
  if (typeof value === 'string' && !value.isWellFormed())
    throw new TypeError('a string with half a surrogate pair has no canonical JSON')
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new TypeError(`${value} has no canonical JSON`)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (isList(value)) return `[${value.map(canonicalJson).join(',')}]`
  const pairs = Object.entries(value)
    .filter((pair): pair is [string, Json] => pair[1] !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, each]) => `${canonicalJson(key)}:${canonicalJson(each)}`)
  return `{${pairs.join(',')}}`
}

function isList(value: object): value is readonly Json[] {
  return Array.isArray(value)
}
