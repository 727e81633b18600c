import { uniqueId } from './store-case.ts'

/**
 * Different ids that a database may take for the same: its collation folds case, accents, width or trailing
 * spaces, its patterns read `%` and `_`, its keys are joined with a slash.
 */
export function lookAlikes<Id extends string>(): Id[] {
  const id = uniqueId()
  const ends = [
    '',
    'a',
    'A',
    'a ',
    ' a',
    '\u00e4',
    'a\u0308',
    '\uff41',
    'a/b',
    '%',
    '_',
    "'",
    '\\',
    '\u{1f5fb}',
  ]
  return ends.map((end) => `${id}${end}` as Id)
}
