import { expect, it } from 'vitest'
import { readStatement } from './statement.ts'

it.each(['[', "'", '"', '`', '/*', "changes('", "read_csv('"])(
  'a million of %s without an end: read in one pass',
  (opening) => {
    const text = opening.repeat((1 << 20) / opening.length)
    expect(readStatement(text)).toEqual({ sql: text, comparisons: [], dataFiles: [] })
  },
)

it('what is open at the end hides no second statement', () => {
  expect(readStatement("select ';").sql).toBe("select ';")
  expect(() => readStatement('select 1; select [2')).toThrow('one statement')
})
