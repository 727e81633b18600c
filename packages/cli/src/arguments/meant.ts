import { findNearest } from './nearest.ts'

/** Words of shells, of git and of other products, and the command that does the same here. */
const otherWords: Readonly<Record<string, string>> = {
  start: 'up',
  unmount: 'umount',
  'ws use': 'ctx use CONTEXT --workspace NAME',
  'ws switch': 'ctx use CONTEXT --workspace NAME',
  'fs ln': 'fs hardlink or cairn fs symlink',
  'fs put': 'fs cp FILE :/PATH',
  'fs rmdir': 'fs rm',
  'fs touch': 'fs cp - :/PATH',
  'fs write': 'fs cp - :/PATH',
  'fs checkpoint': 'fs layer checkpoint',
}

/** What a user meant who typed a command that there is not: ` Did you mean cairn fs ls?`, or nothing. */
export function didYouMean(typed: string, names: readonly string[]): string {
  const meant =
    otherWords[typed] ??
    otherWords[`fs ${typed}`] ??
    // `cat` for `fs cat`, `layer` for `fs layer`.
    names.find((name) => name === `fs ${typed}`) ??
    names.find((name) => name.endsWith(` ${typed}`)) ??
    findNearest(typed, names)
  return meant === undefined ? '' : ` Did you mean cairn ${meant}?`
}
