interface Keywords {
  readonly examples?: readonly unknown[]
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly type?: string | readonly string[]
  readonly items?: Keywords
  readonly properties?: Readonly<Record<string, Keywords>>
  readonly required?: readonly string[]
  readonly anyOf?: readonly Keywords[]
  readonly oneOf?: readonly Keywords[]
  readonly minimum?: number
}

/** A value that fits a schema, made of the examples in it. */
export function exampleOf(schema: object): unknown {
  const { examples, enum: values, anyOf, oneOf, items, type, ...more } = schema as Keywords
  if (examples) return examples[0]
  if (more.default !== undefined) return more.default
  if (values) return values[0]
  const [alternative] = anyOf ?? (more.properties ? [] : (oneOf ?? []))
  if (alternative) return exampleOf(alternative)
  const [kind] = [type].flat()
  if (kind === 'object') return exampleObject(more)
  if (kind === 'array') return items ? [exampleOf(items)] : []
  if (kind === 'boolean') return true
  if (kind === 'integer') return more.minimum ?? 0
  return ''
}

/** An optional field is in it if an example was given for it. */
function exampleObject({ properties = {}, required = [] }: Keywords): object {
  const shown = Object.entries(properties).filter(
    ([name, field]) => required.includes(name) || field.examples !== undefined,
  )
  return Object.fromEntries(shown.map(([name, field]) => [name, exampleOf(field)]))
}
