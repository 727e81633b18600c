import type { FileEntry, FileKind } from '@cairn/sdk'

/** `0`, `999`, `1.0k`, `17M`: three figures, in powers of 1024, as `ls -h`. */
export function formatBytes(count: number): string {
  if (count < 1024) return String(count)
  const units = 'kMGTPE'
  let value = count
  let unit = -1
  // 1023.9 would be shown as 1024.
  while (value >= 1023.5 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  return `${value < 9.95 ? value.toFixed(1) : String(Math.round(value))}${units[unit]}`
}

/** `0:07`, `1:02:03`. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60]
  const last = String(whole % 60).padStart(2, '0')
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${last}` : `${minutes}:${last}`
}

/** UTC, to the second. */
export function formatTime(ns: string): string {
  const ms = Number(BigInt(ns) / 1_000_000n)
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ')
}

const kindLetters: Readonly<Record<FileKind, string>> = {
  file: '-',
  directory: 'd',
  symlink: 'l',
  fifo: 'p',
  socket: 's',
  character: 'c',
  block: 'b',
}

/** `-rwxr-xr-x`, with the letters of set-user-id, set-group-id and sticky. */
export function formatMode(kind: FileKind, mode: string): string {
  const bits = parseInt(mode, 8)
  const triple = (shift: number, special: number, letter: string): string => {
    const [read, write, execute] = [4, 2, 1].map((bit) => (bits >> shift) & bit)
    const isSpecial = (bits & special) !== 0
    const plain = execute ? 'x' : '-'
    const marked = execute ? letter : letter.toUpperCase()
    return `${read ? 'r' : '-'}${write ? 'w' : '-'}${isSpecial ? marked : plain}`
  }
  const permissions = triple(6, 0o4000, 's') + triple(3, 0o2000, 's') + triple(0, 0o1000, 't')
  return kindLetters[kind] + permissions
}

/**
 * A name for people. On a terminal control characters are shown as `\x1b`: a name must not be able to move the
 * cursor. Elsewhere it stays as it is, so that it can be used.
 */
export function formatName(name: string, isTerminal: boolean): string {
  if (!isTerminal) return name
  return name.replace(
    // oxlint-disable-next-line no-control-regex -- they are what is looked for
    /[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  )
}

export function formatLong(entry: FileEntry, isTerminal: boolean): string[] {
  const arrow = entry.target === undefined ? '' : ` -> ${formatName(entry.target, isTerminal)}`
  return [
    formatMode(entry.kind, entry.mode),
    String(entry.nlink),
    String(entry.uid),
    String(entry.gid),
    String(entry.size),
    formatTime(entry.mtimeNs),
    formatName(entry.name, isTerminal) + arrow,
  ]
}
