import { CairnError } from '@cairn/protocol'
import type { Of, Schema } from '@cairn/protocol/routes'
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv'
import { reasonOf } from './schema-reason.ts'

const common: Options = { discriminator: true, verbose: true, keywords: ['wants'] }
/** JSON has types, so nothing is converted. */
const jsonAjv = new Ajv(common)
/** Queries and URLs are text: numbers are read from it. */
const textAjv = new Ajv({ ...common, coerceTypes: true, useDefaults: true })

/** A function that gives a value back as what its schema says, or throws `invalid_argument`. */
export type Validate<T> = (value: unknown, where: string) => T

/** Compiles a schema for JSON. Compile once, when the server starts. */
export function validatorOf<S extends Schema<unknown>>(schema: S): Validate<Of<S>> {
  const validate = jsonAjv.compile<Of<S>>(schema)
  return (value, where) => {
    if (validate(value)) return value
    throw refusal(validate, where, where)
  }
}

const places: Readonly<Record<string, string>> = {
  body: 'the body',
  querystring: 'the query',
  params: 'the URL',
  headers: 'the headers',
}

/** For Fastify: it validates before a handler runs. */
export function compileForFastify({
  schema,
  httpPart = 'body',
}: {
  readonly schema: unknown
  readonly httpPart?: string
}): (value: unknown) => { readonly value: unknown } | { readonly error: Error } {
  const validate = (httpPart === 'body' ? jsonAjv : textAjv).compile(schema as object)
  return (value) =>
    validate(value) ? { value } : { error: refusal(validate, places[httpPart] ?? httpPart) }
}

/** The first of the errors: later ones say what it means for the objects around it. */
function refusal(
  { errors }: Pick<ValidateFunction, 'errors'>,
  where: string,
  about?: string,
): CairnError {
  const { field, reason } = reasonOf(errors as readonly ErrorObject[])
  return new CairnError('invalid_argument', {
    what: `read ${where}`,
    reason: field === '' ? reason : `${field} ${reason}`,
    ...(about === undefined && field === '' ? {} : { subject: about ?? field }),
  })
}
