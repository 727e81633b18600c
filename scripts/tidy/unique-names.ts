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

const door = /^packages\/[^/]+\/src\/index\.ts$/
const ownExports = /^export (?:type )?\{([^}]*)\} from '\.[^']*'/gm

/**
 * One message for each name of any kind, functions included, that the doors of several packages declare. What a door
 * passes on from another package is the same thing.
 */
export function findSharedDoorNames(files: readonly ProjectFile[]): string[] {
  const doors = new Map<string, string[]>()
  for (const { path, text } of files.filter((file) => door.test(file.path)))
    for (const [, list = ''] of text.matchAll(ownExports))
      for (const name of list.split(',').map(shownName).filter(Boolean))
        doors.set(name, [...(doors.get(name) ?? []), path])
  return [...doors]
    .filter(([, paths]) => paths.length > 1)
    .map(([name, paths]) => `${name} is exported by ${paths.join(' and ')}. ${nameRemedy}`)
}

/** `type A as B` is B to those that import it. */
function shownName(spelled: string): string {
  return /([\w$]+)\s*$/.exec(spelled)?.[1] ?? ''
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
