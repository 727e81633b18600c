import { isShipped, packageOf } from './paths.ts'
import { lineAt, type ProjectFile } from './rule.ts'

/**
 * Types and classes that more than one package exports under the same name. The list only shrinks: when you give one of
 * them a name of its own, remove its line. Names of the SDK that mean the same thing as in the server may stay.
 */
const knownSharedNames: readonly string[] = ['Workspace', 'Workspaces']

export const nameRemedy =
  'One word means one thing: give the newer one a name of its own, and a line in docs/internals/glossary.md if it is a word of the design.'

const declaration = /^export (?:abstract )?(?:class|interface|type|const|enum) ([A-Z][\w$]*)/gm

/** One message for each type or class name that several packages export, and for each known one that is no longer shared. */
export function findSharedNames(
  files: readonly ProjectFile[],
  known: readonly string[] = knownSharedNames,
): string[] {
  const places = findPlaces(files)
  const shared = [...places].filter(([, found]) => new Set(found.map(packageOf)).size > 1)
  return [
    ...shared
      .filter(([name]) => !known.includes(name))
      .map(([name, found]) => `${name} is exported by ${found.join(' and ')}. ${nameRemedy}`),
    ...known
      .filter((name) => !shared.some(([other]) => other === name))
      .map(
        (name) =>
          `scripts/tidy/unique-names.ts lists ${name}, which one package exports. Remove it.`,
      ),
  ]
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
