import { DataError, type DataRows } from './data-rows.ts'

/**
 * An array, or one value a line. The columns are the keys of all objects, in the order in which they come; what is no
 * object is in the column `value`.
 */
export function readJson(text: string): DataRows {
  const values = valuesOf(text)
  const columns = new Map<string, number>()
  for (const value of values())
    for (const key of isObject(value) ? Object.keys(value) : [valueColumn])
      if (!columns.has(key)) columns.set(key, columns.size)
  return {
    columns: [...columns.keys()].map((name) => ({ name })),
    *rows() {
      for (const value of values()) {
        const row: unknown[] = []
        for (const [key, each] of Object.entries(
          isObject(value) ? value : { [valueColumn]: value },
        ))
          row[columns.get(key)!] = each
        yield row
      }
    },
  }
}

const valueColumn = 'value'

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function valuesOf(text: string): () => Iterable<unknown> {
  const whole = parsed(text)
  if (whole === undefined) return () => lines(text)
  const values = Array.isArray(whole.value) ? whole.value : [whole.value]
  return () => values
}

/** Undefined where the text is not one value. */
function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

function* lines(text: string): Generator<unknown> {
  let number = 0
  for (const line of text.split('\n')) {
    number++
    if (line.trim() === '') continue
    const value = parsed(line)
    if (!value) throw new DataError(`line ${number} is not JSON, and the file as a whole is not`)
    yield value.value
  }
}
