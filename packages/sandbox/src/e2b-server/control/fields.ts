import { ApiError } from '../api-error.ts'

export type Fields = Readonly<Record<string, unknown>>

/** A day, as on E2B's larger plan. */
const lifetimeSecondsMax = 86_400

export function optionalText(fields: Fields, name: string): string | undefined {
  const value = fields[name]
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string') return value
  throw new ApiError(400, `${name} must be a text`)
}

export function optionalNumber(fields: Fields, name: string): number | undefined {
  const value = fields[name]
  if (value === undefined || value === null) return undefined
  if (typeof value === 'number' && Number.isFinite(value)) return value
  throw new ApiError(400, `${name} must be a number`)
}

export function flag(fields: Fields, name: string, unlessGiven: boolean): boolean {
  const value = fields[name]
  return typeof value === 'boolean' ? value : unlessGiven
}

export function texts(fields: Fields, name: string): Record<string, string> {
  const value = fields[name] ?? {}
  const isMap = typeof value === 'object' && !Array.isArray(value)
  if (isMap && Object.values(value as object).every((each) => typeof each === 'string'))
    return value as Record<string, string>
  throw new ApiError(400, `${name} must map names to texts`)
}

/** Seconds in the body, milliseconds here. */
export function lifetime(
  fields: Fields,
  unlessGivenSeconds: number,
  { name = 'timeout', mayEnd = false }: { name?: string; mayEnd?: boolean } = {},
): number {
  const seconds = optionalNumber(fields, name) ?? unlessGivenSeconds
  if (mayEnd && seconds === 0) return 0
  if (seconds > 0 && seconds <= lifetimeSecondsMax) return seconds * 1000
  throw new ApiError(400, `${name} must be more than 0 and at most ${lifetimeSecondsMax} seconds`)
}
