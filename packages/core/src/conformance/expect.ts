import { equalBytes, type ErrorCode, isCairnError } from '@cairn/protocol'

interface Expectation {
  /** The same value, as `Object.is` sees it. */
  toBe(expected: unknown): void
  /** Equal all the way down. Bytes are equal in any class, and an absent property is the same as an undefined one. */
  toEqual(expected: unknown): void
  /** Has at least these properties, equal all the way down. */
  toMatchObject(expected: object): void
  toBeInstanceOf(expected: abstract new (...args: never[]) => unknown): void
}

/** What the cases need of an assertion library: they also run where none is installed. */
export function expect(actual: unknown): Expectation {
  const claim = (holds: boolean, expected: unknown): void => {
    if (!holds) throw new Error(`expected ${describeValue(expected)}, got ${describeValue(actual)}`)
  }
  return {
    toBe: (expected) => claim(Object.is(actual, expected), expected),
    toEqual: (expected) => claim(isEqual(actual, expected), expected),
    toMatchObject: (expected) => claim(hasProperties(actual, expected), expected),
    toBeInstanceOf: (expected) => claim(actual instanceof expected, expected.name),
  }
}

/** What the promise rejects with; fails where it resolves. */
export async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error('expected a rejection, and it succeeded')
}

/** The code a promise rejects with; anything else than a CairnError fails. */
export async function codeOf(promise: Promise<unknown>): Promise<ErrorCode> {
  const error = await rejectionOf(promise)
  if (isCairnError(error)) return error.code
  throw new Error(`expected a CairnError, got ${String(error)}`, { cause: error })
}

export async function expectCode(
  promise: Promise<unknown>,
  code: ErrorCode,
  subject?: string,
): Promise<void> {
  expect(await codeOf(promise)).toBe(code)
  if (subject !== undefined) expect(await rejectionOf(promise)).toMatchObject({ subject })
}

function isEqual(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true
  if (!isObject(one) || !isObject(other)) return false
  if (one instanceof Uint8Array || other instanceof Uint8Array)
    return one instanceof Uint8Array && other instanceof Uint8Array && equalBytes(one, other)
  if (one instanceof Set && other instanceof Set)
    return one.size === other.size && [...one].every((each) => other.has(each))
  if (one instanceof Map && other instanceof Map)
    return (
      one.size === other.size &&
      [...one].every(([key, value]) => other.has(key) && isEqual(value, other.get(key)))
    )
  if (Array.isArray(one) !== Array.isArray(other)) return false
  if (Array.isArray(one) && Array.isArray(other) && one.length !== other.length) return false
  return hasProperties(one, other) && hasProperties(other, one)
}

function hasProperties(actual: unknown, expected: object): boolean {
  if (!isObject(actual)) return false
  return Object.entries(expected).every(([name, value]) => isEqual(actual[name], value))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

const describedCharsMax = 300

/** Bytes as their number: a blob in a message helps no reader. */
function describeValue(value: unknown): string {
  const text = JSON.stringify(value, (_, each: unknown) => {
    if (each instanceof Uint8Array) return `${each.length} bytes`
    if (each instanceof Set || each instanceof Map) return [...each]
    return typeof each === 'bigint' || each === undefined ? String(each) : each
  })
  return text.length > describedCharsMax ? `${text.slice(0, describedCharsMax)}…` : text
}
