import { isCairnError, type LayerConflict } from '@cairn/sdk'
import type { Cli } from '../cli.ts'
import { formatName } from '../output/format.ts'
import { shellWord } from '../output/shell-words.ts'

/** Why each kind needs a decision. */
const reasons: Readonly<Record<string, string>> = {
  'edit/edit': 'both changed its content',
  'edit/delete': 'one changed it, the other deleted it',
  'add/add': 'both created it, with different content',
  'rename/rename': 'both renamed it, each to another name',
  'rename/delete': 'one renamed it, the other deleted it',
  'file/directory': 'it is a file for one and a directory for the other',
  'directory cycle': 'each moved one directory into the other',
  mode: 'both changed its permissions or attributes',
  'hard link': 'both changed what its names are',
}

/** Every path, why, and what can be typed next. */
export function conflictLines(
  layer: string,
  conflicts: readonly LayerConflict[],
  isTerminal: boolean,
): string[] {
  const name = shellWord(layer)
  const lines = conflicts.flatMap((conflict) => {
    const path = formatName(conflict.path, isTerminal)
    return [
      `conflict: ${path}: ${conflict.kind}: ${reasons[conflict.kind] ?? 'both changed it'}`,
      ...sideLines(name, conflict, isTerminal),
      `  decide: cairn fs layer resolve ${name} ${shellWord(path)} --ours | --theirs | --with FILE`,
    ]
  })
  return [
    ...lines,
    `--ours keeps the version of the layer, --theirs that of its parent. When all are decided:`,
    `  cairn fs layer commit ${name}`,
    `To bring the layer up to date and test it first: cairn fs layer rebase ${name}`,
  ]
}

const readers: Readonly<Record<string, string>> = { file: 'cat', directory: 'ls' }

/** How to read each version. */
function sideLines(layer: string, conflict: LayerConflict, isTerminal: boolean): string[] {
  const sides = [
    ['base', conflict.base],
    ['layer', conflict.layer],
    ['target', conflict.target],
  ] as const
  return sides.map(([side, there]) => {
    if (!there) return `  ${side}: not there`
    const path = formatName(there.path, isTerminal)
    const verb = readers[there.kind] ?? 'stat --no-follow'
    return `  ${side}: cairn fs ${verb} ${shellWord(`:${path}`)} --layer ${layer} --side ${side}`
  })
}

/** Tells what stands in the way before the error itself is told; with --json that one has everything. */
export async function withConflicts<T>(
  cli: Cli,
  layer: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (isCairnError(error, 'layer_conflict') && error.conflicts && !cli.isJson)
      for (const line of conflictLines(layer, error.conflicts, cli.err.isTerminal))
        await cli.err.line(line)
    throw error
  }
}
