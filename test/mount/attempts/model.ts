/** Paths and texts: all that the naive merge knows of a tree. */
export type Files = ReadonlyMap<string, string>

export interface Line {
  readonly name: string
  files: Files
}

export interface Attempt extends Line {
  readonly parent: Line
  /** What it stands on. */
  base: Files
  isClosed: boolean
  checkpoints: readonly { readonly label: string; readonly files: Files }[]
  /** What an undo brings back. */
  before: Files | undefined
}

export function newAttempt(name: string, parent: Line): Attempt {
  const { files } = parent
  return { name, parent, files, base: files, isClosed: false, checkpoints: [], before: undefined }
}

export function isAttempt(line: Line): line is Attempt {
  return 'parent' in line
}

/** With undefined it is deleted. */
export function put(line: Line, path: string, text: string | undefined): void {
  const files = new Map(line.files)
  if (text === undefined) files.delete(path)
  else files.set(path, text)
  replace(line, files)
}

export function replace(line: Line, files: Files): void {
  line.files = files
  if (isAttempt(line)) line.before = undefined
}

/** Path by path: what one side changed is taken, what both changed to the same is no conflict. */
export function mergeNaively({ base, files, parent }: Attempt): {
  readonly merged: Files
  readonly conflicts: readonly string[]
} {
  const merged = new Map(parent.files)
  const conflicts: string[] = []
  for (const path of new Set([...base.keys(), ...files.keys(), ...parent.files.keys()])) {
    const [was, mine, theirs] = [base.get(path), files.get(path), parent.files.get(path)]
    if (mine === was || mine === theirs) continue
    if (theirs !== was) conflicts.push(path)
    if (mine === undefined) merged.delete(path)
    else merged.set(path, mine)
  }
  return { merged, conflicts: conflicts.sort() }
}
