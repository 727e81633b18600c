import { isCairnError } from '@cairn/sdk'

/** A call that cannot be made as asked. `message` reads `cannot <verb> <thing>: <why>. <what to do next>`. */
export class ToolError extends Error {
  override readonly name = 'ToolError'

  constructor(problem: string, next: string) {
    super(`cannot ${problem}. ${next}`)
  }
}

const conflictsShown = 20

/** What the model reads when a call fails: one line that ends with the next step. Undefined for faults of the program. */
export function explainFailure(error: unknown): string | undefined {
  if (error instanceof ToolError) return oneLine(error.message)
  if (!isCairnError(error)) return undefined
  const { problem, conflicts, candidates, code } = error
  const next = nextSteps[error.errno ?? code] ?? nextSteps[code] ?? error.hint
  const paths = conflicts?.slice(0, conflictsShown).map(({ kind, path }) => `${path} (${kind})`)
  const more = (conflicts?.length ?? 0) - (paths?.length ?? 0)
  const listed =
    paths === undefined ? '' : ` [${paths.join(', ')}${more > 0 ? `, ${more} more` : ''}]`
  const meant = candidates === undefined ? '' : ` [${candidates.join(', ')}]`
  return oneLine(`${problem}${listed}${meant}. ${next}`)
}

/** For a model: in the names of its tools. */
const nextSteps: Readonly<Record<string, string>> = {
  ENOENT: 'Find the path with ls or glob.',
  EISDIR: 'It is a directory: list it with ls.',
  ENOTDIR: 'A part of the path is a file: check it with ls.',
  ENOTEMPTY: 'Set recursive to remove the directory with everything in it.',
  EEXIST: 'Choose another path, or set overwrite.',
  EINVAL: 'Give a path below the root of the workspace, without "..".',
  precondition_failed: 'It has changed since you read it: read it again, then repeat the change.',
  file_changed: 'It changed while it was read: read it again.',
  layer_conflict:
    'In an attempt, edit these paths to match and commit again, or discard it. For undo, give a narrower path.',
  nothing_to_undo: 'See with log what was changed, and by which call.',
  branch_missing:
    'See attempts with attempt_list, and checkpoints with sql: select * from checkpoints.',
  checkpoint_missing: 'See the names with sql: select * from checkpoints.',
  checkpoint_outdated: 'Choose a newer one; see them with sql: select * from checkpoints.',
  layer_closed: 'Begin another attempt with attempt_create.',
  workspace_missing: 'Leave out "workspace", or ask your user for its name.',
  quota_exceeded: 'Remove something, or ask your user to raise the quota.',
  unauthenticated: 'Ask your user for another key or token.',
  access_ended: 'Ask your user for another token.',
  unreachable: 'Try again in a moment; if that fails, tell your user.',
  reference_ambiguous: 'Use one of the ids.',
  forbidden: 'Your token does not allow it: work inside the paths you can list, or ask your user.',
  read_only: 'Leave out "at" to work on the current state.',
}

function oneLine(text: string): string {
  return text.replaceAll(/\s*[\r\n]+\s*/g, ' ')
}
