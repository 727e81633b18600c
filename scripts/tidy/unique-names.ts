import { isShipped, packageOf } from './paths.ts'
import { lineAt, type ProjectFile } from './rule.ts'

export const nameRemedy =
  'One word means one thing: give the newer one a name of its own, and a line in docs/internals/glossary.md if it is a word of the design.'

const declaration = /^export (?:abstract )?(?:class|interface|type|const|enum) ([A-Z][\w$]*)/gm

/** One message for each type or class name that several packages export. */
export function findSharedNames(files: readonly ProjectFile[]): string[] {
  return [...findPlaces(files)]
    .filter(([, found]) => new Set(found.map(packageOf)).size > 1)
    .map(([name, found]) => `${name} is exported by ${found.join(' and ')}. ${nameRemedy}`)
}

/** Where each name is declared. Helpers of tests may repeat a name. */
function findPlaces(files: readonly ProjectFile[]): Map<string, string[]> {
  const places = new Map<string, string[]>()
  for (const { path, text } of files) {
    if (!isShipped(path) || path.includes('/testing/')) continue
    for (const match of text.matchAll(declaration)) {
      const place = `${path}:${lineAt(text, match.index)}`
      places.set(match[1]!, [...(places.get(match[1]!) ?? []), place])
    }
  }
  return places
}
