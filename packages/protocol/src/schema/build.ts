/**
 * Schemas of the HTTP API's JSON. Each value is a plain JSON Schema (2020-12) and carries the TypeScript type that it
 * stands for, so a shape is written once. Nothing here is loaded by clients: they import the types alone.
 */

declare const shape: unique symbol
declare const isOptional: unique symbol

/** A JSON Schema for values of type `T`. */
export interface Schema<T> {
  readonly [shape]?: T
}

export interface OptionalSchema<T> extends Schema<T> {
  readonly [isOptional]: true
}

/** The type that a schema stands for. */
export type Of<S> = S extends Schema<infer T> ? T : never

type Fields = Readonly<Record<string, Schema<unknown>>>
type OptionalNames<F> = {
  [Name in keyof F]: F[Name] extends OptionalSchema<unknown> ? Name : never
}[keyof F]
// Two helpers with a parameter for the names: mapped so, each field keeps its comment.
type Present<F, Names extends keyof F> = { readonly [Name in Names]: Of<F[Name]> }
type Absent<F, Names extends keyof F> = { readonly [Name in Names]?: Of<F[Name]> }
type Flat<T> = { [Name in keyof T]: T[Name] }

type ObjectOf<F> = Flat<
  Present<F, Exclude<keyof F, OptionalNames<F>>> & Absent<F, OptionalNames<F>>
>

/** An object. `fields` are there for other objects that have the same ones and more. */
export interface ObjectSchema<F> extends Schema<ObjectOf<F>> {
  readonly fields: F
}

export interface ListSchema<S> extends Schema<readonly Of<S>[]> {
  readonly items: S
}

/** What every schema may say. `examples` stand in the OpenAPI document. */
interface Annotations<T> {
  readonly description?: string
  readonly examples?: readonly T[]
  readonly default?: T
}

interface TextOptions extends Annotations<string> {
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  /** The pattern in words. Error messages say "must be" and this. */
  readonly wants?: string
}

interface IntegerOptions extends Annotations<number> {
  readonly minimum?: number
  readonly maximum?: number
}

interface ListOptions {
  readonly minItems?: number
  readonly maxItems?: number
  readonly uniqueItems?: boolean
}

interface RecordOptions {
  readonly propertyNames?: Schema<string>
  readonly maxProperties?: number
}

/** Marks an optional field until `object` has read it. */
const optionalMark = Symbol('optional')

export function text(options: TextOptions = {}): Schema<string> {
  return made({ type: 'string', ...options })
}

/** From 0, unless `minimum` says otherwise. */
export function integer(options: IntegerOptions = {}): Schema<number> {
  return made({ type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER, ...options })
}

export function number(options: Annotations<number> = {}): Schema<number> {
  return made({ type: 'number', ...options })
}

export function boolean(options: Annotations<boolean> = {}): Schema<boolean> {
  return made({ type: 'boolean', ...options })
}

export function oneOf<const Value extends string | boolean>(
  values: readonly Value[],
  options: Annotations<Value> = {},
): Schema<Value> {
  return made({ enum: values, ...options })
}

export function list<S extends Schema<unknown>>(
  items: S,
  options: ListOptions = {},
): ListSchema<S> {
  return made({ type: 'array', items, ...options })
}

export function record<T>(
  value: Schema<T>,
  options: RecordOptions & Annotations<Readonly<Record<string, T>>> = {},
): Schema<Readonly<Record<string, T>>> {
  return made({ type: 'object', additionalProperties: value, ...options })
}

/** Any JSON. */
export function anything<T>(options: Annotations<T> = {}): Schema<T> {
  return made({ ...options })
}

/** An object with these fields and no others. */
export function object<const F extends Fields>(fields: F): ObjectSchema<F> {
  const entries = Object.entries(fields)
  const schema = {
    type: 'object',
    additionalProperties: false,
    required: entries.filter(([, field]) => !(optionalMark in field)).map(([name]) => name),
    properties: fields,
  }
  // Not enumerable, so that the JSON has them once.
  Object.defineProperty(schema, 'fields', { value: fields })
  return made(schema)
}

export function optional<T>(schema: Schema<T>): OptionalSchema<T> {
  const copy = { ...schema }
  Object.defineProperty(copy, optionalMark, { value: true })
  return made(copy)
}

export function nullable<T>(schema: Schema<T>): Schema<T | null> {
  // A choice of values has no type of its own.
  if (!('type' in schema)) return made({ anyOf: [schema, { type: 'null' }] })
  return made({ ...schema, type: [(schema as { type?: unknown }).type, 'null'] })
}

type Single<F> = { readonly [Name in keyof F]: { readonly [Only in Name]: Of<F[Name]> } }[keyof F]

/** An object with exactly one of some fields. */
export function oneField<const F extends Fields>(choices: F): Schema<Single<F>> {
  const names = Object.keys(choices)
  const fields = Object.fromEntries(names.map((name) => [name, optional(choices[name]!)]))
  return made({ ...object(fields), oneOf: names.map((name) => ({ required: [name] })) })
}

export function anyOf<S extends readonly Schema<unknown>[]>(...schemas: S): Schema<Of<S[number]>> {
  return made({ anyOf: schemas })
}

type Together<S> = S extends readonly [infer First, ...infer Rest]
  ? Of<First> & Together<Rest>
  : unknown

interface ObjectKeywords {
  readonly properties: Fields
  readonly required: readonly string[]
  readonly oneOf?: readonly object[]
}

/** One object with the fields of all. */
export function merge<const S extends readonly Schema<unknown>[]>(
  ...schemas: S
): Schema<Together<S>> {
  const parts = schemas as readonly unknown[] as readonly ObjectKeywords[]
  const choices = parts.flatMap(({ oneOf: choice }) => (choice ? [{ oneOf: choice }] : []))
  return made({
    type: 'object',
    additionalProperties: false,
    required: parts.flatMap(({ required }) => required),
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)) as Fields,
    ...(choices.length > 1 ? { allOf: choices } : choices[0]),
  })
}

/** One of several objects; the field `tag` says which. */
export function tagged<T>(tag: string, schemas: readonly Schema<T>[]): Schema<T> {
  return made({
    type: 'object',
    required: [tag],
    discriminator: { propertyName: tag },
    oneOf: schemas,
  })
}

/** The OpenAPI document has it once, under its name. */
export function named<S extends Schema<unknown>>(title: string, schema: S): S {
  const copy = { ...schema, title }
  if ('fields' in schema) Object.defineProperty(copy, 'fields', { value: schema.fields })
  return copy
}

function made<S extends Schema<unknown>>(keywords: object): S {
  return keywords as S
}
