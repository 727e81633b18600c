import type { ErrorObject } from 'ajv'

/** Which field does not fit its schema, and why. An empty field is the whole value. */
export interface Reason {
  readonly field: string
  /** Follows the name of the field: `must be a string`. */
  readonly reason: string
}

const valueCharactersMax = 64

const typeWords: Readonly<Record<string, string>> = {
  string: 'a string',
  boolean: 'true or false',
  integer: 'a whole number',
  number: 'a number',
  array: 'a list',
  object: 'a JSON object',
  null: 'null',
}

/** Says in words what Ajv found. */
export function reasonOf(errors: readonly ErrorObject[]): Reason {
  const [first] = errors
  const either = errors.find(({ keyword }) => keyword === 'oneOf')
  if (either && (first === either || first!.keyword === 'required')) return eitherReason(either)
  if (first!.keyword === 'discriminator') return tagReason(first!)
  if (first!.propertyName !== undefined)
    return {
      field: fieldOf(first!.instancePath),
      reason: `has the name ${quoted(first!.propertyName)}, which ${wordsOf(first!)}`,
    }
  const { missingProperty, additionalProperty } = first!.params as Record<string, string>
  const field = fieldOf(first!.instancePath, missingProperty ?? additionalProperty)
  return { field, reason: wordsOf(first!) }
}

/** Where one of two fields must be there: `path`, or `pathBytes` where it is not UTF-8. */
function eitherReason({ instancePath, params, schema }: ErrorObject): Reason {
  const [name = '', other = ''] = (schema as { required: string[] }[]).flatMap(
    ({ required }) => required,
  )
  const isBoth = (params as { passingSchemas: unknown }).passingSchemas !== null
  return isBoth
    ? { field: fieldOf(instancePath), reason: `give ${name} or ${other}, not both` }
    : { field: fieldOf(instancePath, name), reason: 'is missing' }
}

/** Where a field says which of several objects it is. */
function tagReason({ instancePath, params, parentSchema }: ErrorObject): Reason {
  const { tag, tagValue } = params as { tag: string; tagValue: unknown }
  const field = fieldOf(instancePath, tag)
  if (tagValue === undefined) return { field, reason: 'is missing' }
  const { oneOf } = parentSchema as {
    oneOf: { properties: Readonly<Record<string, { enum: string[] }>> }[]
  }
  const known = oneOf.flatMap(({ properties }) => properties[tag]?.enum ?? [])
  return { field, reason: `must be one of ${known.join(', ')}; got ${shown(tagValue)}` }
}

function wordsOf(error: ErrorObject): string {
  const { keyword, params, parentSchema = {}, schema, data } = error
  const { limit } = params as { limit: number }
  switch (keyword) {
    case 'required':
      return 'is missing'
    case 'additionalProperties':
      return `is not known here; there is ${Object.keys(parentSchema['properties'] as object).join(', ') || 'nothing to give'}`
    case 'type':
      return `must be ${[schema as string | string[]].flat().map(wordOf).join(' or ')}`
    case 'enum':
      return `must be one of ${(schema as unknown[]).filter((value) => value !== '').join(', ')}; got ${shown(data)}`
    case 'pattern':
      return `must be ${(parentSchema['wants'] as string | undefined) ?? `text that matches ${String(schema)}`}; got ${shown(data)}`
    case 'minimum':
      return `must be at least ${limit}`
    case 'maximum':
      return `must be at most ${limit}`
    case 'minLength':
      return limit === 1 ? 'must not be empty' : `must have at least ${limit} characters`
    case 'maxLength':
      return `must have at most ${limit} characters`
    case 'minItems':
    case 'maxItems':
      return itemsWords(parentSchema)
    default:
      return error.message ?? `does not fit ${keyword}`
  }
}

function itemsWords(schema: object): string {
  const { minItems = 0, maxItems } = schema as { minItems?: number; maxItems?: number }
  return maxItems === undefined
    ? `must be a list of at least ${minItems}`
    : `must be a list of ${minItems} to ${maxItems}`
}

function wordOf(type: string): string {
  return typeWords[type] ?? type
}

/** A value as it was sent, cut short. */
function shown(value: unknown): string {
  return quoted(typeof value === 'string' ? value : JSON.stringify(value))
}

function quoted(text: string): string {
  const isLong = text.length > valueCharactersMax
  return `'${isLong ? `${text.slice(0, valueCharactersMax)}…` : text}'`
}

/** `/allow/0/path` as `allow[0].path`. */
function fieldOf(pointer: string, last?: string): string {
  const names = pointer.split('/').slice(1).map(unescapePointer)
  if (last !== undefined) names.push(last)
  return names
    .map((name, at) => (/^\d+$/.test(name) ? `[${name}]` : `${at === 0 ? '' : '.'}${name}`))
    .join('')
}

function unescapePointer(name: string): string {
  return name.replaceAll('~1', '/').replaceAll('~0', '~')
}
