import { isCode } from './paths.ts'

export interface ProjectFile {
  /** From the repository's root, with forward slashes. */
  readonly path: string
  readonly text: string
}

export interface Violation {
  /** Counted from 1. */
  readonly line: number
  /** Ends the sentence that begins with the file's name. */
  readonly what: string
}

export interface Rule {
  /** What is true of the repository while the rule is kept. */
  readonly fact: string
  /** What to do instead. */
  readonly remedy: string
  readonly appliesTo: (path: string) => boolean
  readonly find: (file: ProjectFile, paths: ReadonlySet<string>) => readonly Violation[]
  /** Texts by path. They show the rule to its readers, and prove that it sees. */
  readonly broken: Readonly<Record<string, string>>
  readonly kept: Readonly<Record<string, string>>
}

/** One message for each violation, ready for the author to read. */
export function findViolations(rule: Rule, files: readonly ProjectFile[]): string[] {
  const paths = new Set(files.map((file) => file.path))
  return files
    .filter((file) => rule.appliesTo(file.path))
    .flatMap((file) =>
      rule
        .find(file, paths)
        .map(({ line, what }) => `${file.path}:${line} ${what}. ${rule.remedy}`),
    )
}

/** Finds text; capture group 1, where there is one, is what the message shows. */
export function forbidText(pattern: RegExp): Rule['find'] {
  return ({ path, text }) =>
    [...withoutComments(path, text).matchAll(pattern)].map((match) => ({
      line: lineAt(text, match.index),
      what: `has \`${(match[1] ?? match[0]).trim()}\``,
    }))
}

/** Finds imports; `judge` says what is wrong with one, if anything. */
export function forbidImport(
  judge: (specifier: string, importer: string) => string | undefined,
): Rule['find'] {
  return (file) =>
    findImports(file).flatMap(({ specifier, line }) => {
      const what = judge(specifier, file.path)
      return what === undefined ? [] : [{ line, what }]
    })
}

/** Every module that a file names, with its line. */
export function findImports({ path, text }: ProjectFile): { specifier: string; line: number }[] {
  return [...withoutComments(path, text).matchAll(importPattern)].map((match) => ({
    specifier: match[1] ?? '',
    line: lineAt(text, match.index),
  }))
}

const importPattern = /\b(?:from|import)\b\s*\(?\s*['"]([^'"\n]+)['"]/g

/** Empties the lines of pure comment: they may name what code may not use. */
function withoutComments(path: string, text: string): string {
  if (!isCode(path)) return text
  return text.replace(/^[ \t]*(?:\/\/|\/\*|\*[ /]|\*$).*$/gm, (comment) =>
    ' '.repeat(comment.length),
  )
}

export function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length
}
