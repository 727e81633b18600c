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
  switch ([type].flat()[0]) {
    case 'object':
      return exampleObject(more)
    case 'array':
      return [exampleOf(items!)]
    case 'boolean':
      return true
    case 'integer':
      return more.minimum ?? 0
    default:
      return ''
  }
}

/** An optional field is in it if an example was given for it. */
function exampleObject({ properties = {}, required = [] }: Keywords): object {
  const shown = Object.entries(properties).filter(
    ([name, field]) => required.includes(name) || field.examples !== undefined,
  )
  return Object.fromEntries(shown.map(([name, field]) => [name, exampleOf(field)]))
}
