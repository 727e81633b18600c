import { CairnError } from '@cairn/protocol'
import type { Of, Schema } from '@cairn/protocol/routes'
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv'
import { reasonOf } from './schema-reason.ts'

const common: Options = {
  discriminator: true,
  verbose: true,
  keywords: ['wants'],
  // A test does so: here it would compile the schema of schemas at each start.
  validateSchema: false,
}
/** JSON has types, so nothing is converted. */
const jsonAjv = new Ajv(common)
/** Queries and URLs are text: numbers are read from it. */
const textAjv = new Ajv({ ...common, coerceTypes: true, useDefaults: true })

/** A function that gives a value back as what its schema says, or throws `invalid_argument`. */
export type Validate<T> = (value: unknown, where: string) => T

/** Give it a schema once, when the server starts. */
export function validatorOf<S extends Schema<unknown>>(schema: S): Validate<Of<S>> {
  const compiled = compileLate<Of<S>>(jsonAjv, schema)
  return (value, where) => {
    const validate = compiled()
    if (validate(value)) return value
    throw refusal(validate, where, where)
  }
}

/** Compiles a schema for the first value. A server has hundreds, and a third of its start would be spent on them. */
function compileLate<T>(ajv: Ajv, schema: object): () => ValidateFunction<T> {
  let compiled: ValidateFunction<T> | undefined
  return () => (compiled ??= ajv.compile<T>(schema))
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
  const compiled = compileLate(httpPart === 'body' ? jsonAjv : textAjv, schema as object)
  return (value) => {
    const validate = compiled()
    return validate(value) ? { value } : { error: refusal(validate, places[httpPart] ?? httpPart) }
  }
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
