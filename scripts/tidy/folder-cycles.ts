import { dirname, join } from 'node:path/posix'
import { isShipped } from './paths.ts'
import { findImports, type ProjectFile } from './rule.ts'

/**
 * Imports that close a cycle between folders, as `from -> to`. The list only shrinks: when you break a cycle, remove its
 * line.
 */
const knownUpwardImports: readonly string[] = []

export const cycleRemedy =
  'Pass in what the lower folder needs, or move the shared file down into a folder that both may import.'

interface Arrow {
  readonly from: string
  readonly to: string
  /** Where the first such import is. */
  readonly at: string
}

/**
 * One message for each cycle between folders of a package, and one for each known import that closes none. A folder and
 * the folders inside it are one: they close no cycle with each other. Files at the root of a package assemble its
 * folders and belong to none.
 */
export function findFolderCycles(
  files: readonly ProjectFile[],
  known: readonly string[] = knownUpwardImports,
): string[] {
  const arrows = findArrows(files)
  const downward = arrows.filter((arrow) => !known.includes(nameOf(arrow)))
  const cycles = new Map<string, string>()
  for (const arrow of downward) {
    const back = findWay(downward, arrow.to, arrow.from)
    if (!back) continue
    const key = back.toSorted().join(' ')
    if (!cycles.has(key))
      cycles.set(
        key,
        `${arrow.at} closes the cycle ${[arrow.from, ...back].join(' -> ')}. ${cycleRemedy}`,
      )
  }
  return [...cycles.values(), ...findIdle(arrows, downward, known)]
}

function findIdle(
  arrows: readonly Arrow[],
  downward: readonly Arrow[],
  known: readonly string[],
): string[] {
  return known
    .filter((name) => {
      const arrow = arrows.find((other) => nameOf(other) === name)
      return !arrow || !findWay(downward, arrow.to, arrow.from)
    })
    .map((name) => `scripts/tidy/folder-cycles.ts lists ${name}, which closes no cycle. Remove it.`)
}

const nameOf = ({ from, to }: Arrow): string => `${from} -> ${to}`

function findArrows(files: readonly ProjectFile[]): Arrow[] {
  const arrows = new Map<string, Arrow>()
  for (const file of files.filter(({ path }) => isShipped(path)))
    for (const { specifier, line } of findImports(file)) {
      if (!specifier.startsWith('.')) continue
      const from = dirname(file.path)
      const to = dirname(join(from, specifier))
      if (contains(from, to) || contains(to, from)) continue
      const arrow = { from, to, at: `${file.path}:${line}` }
      if (!arrows.has(nameOf(arrow))) arrows.set(nameOf(arrow), arrow)
    }
  return [...arrows.values()]
}

const contains = (outer: string, inner: string): boolean => `${inner}/`.startsWith(`${outer}/`)

/** The shortest way along the arrows, both ends included. */
function findWay(arrows: readonly Arrow[], start: string, end: string): string[] | undefined {
  const ways = new Map([[start, [start]]])
  for (const [folder, way] of ways) {
    if (folder === end) return way
    for (const { from, to } of arrows)
      if (from === folder && !ways.has(to)) ways.set(to, [...way, to])
  }
  return undefined
}
