import { lineAt } from './rule.ts'
import type { ProjectFile } from './rule.ts'

/** Words that hide the subject of a sentence, and comments that begin in the middle of one. */
const dialect =
  /\b(?:who|some|any|no)(?:ever|body)\b|(?<=(?:\/\*\*?|^[ \t]*\/\/) )Of (?!course)[a-z`]/gim

/** How many there may be. Lower it when you remove some; the aim is 0. */
export const dialectMax = 20

/** Files that need the words: this one, its test, and text that others wrote. */
const excepted = /^scripts\/tidy(?:\/dialect|\.test)|^package-lock\.json$|\.svg$/

/** Where they are, as `file:line word`. */
export function findDialect(files: readonly ProjectFile[]): string[] {
  return files
    .filter(({ path }) => !excepted.test(path))
    .flatMap(({ path, text }) =>
      [...text.matchAll(dialect)].map(
        (match) => `${path}:${lineAt(text, match.index)} ${match[0]}`,
      ),
    )
}
