import { ApiErrorBody, isMedia, type Route } from '@cairn/protocol/routes'
import { validatorOf, type Validate } from '../src/http/validate.ts'

const validators = new Map<object, Validate<unknown>>()

/** Why the JSON of an answer does not fit the schema of its route; undefined where it does. */
export function findMisfit({ answers }: Route, status: number, value: unknown): string | undefined {
  if (status >= 400) return misfitOf(ApiErrorBody, value)
  const misfits = [answers[status] ?? []]
    .flat()
    .filter((answer) => answer !== null)
    .filter((answer) => !isMedia(answer))
    .map((schema) => misfitOf(schema, value))
  if (misfits.length === 0) return 'the route has no JSON for this status'
  return misfits.includes(undefined) ? undefined : misfits.join('; ')
}

function misfitOf(schema: object, value: unknown): string | undefined {
  const validate = validators.get(schema) ?? validatorOf(schema)
  validators.set(schema, validate)
  try {
    validate(value, 'the answer')
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
