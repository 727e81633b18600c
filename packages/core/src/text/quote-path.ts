import type { ByteString } from '@cairn/protocol'

const escapes: ReadonlyMap<string, string> = new Map([
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\t', '\\t'],
  ['\n', '\\n'],
  ['\r', '\\r'],
])

/**
 * A path as diffs spell it: in double quotes with C escapes if it could be misread. Bytes above 127
 * stay as they are (git's `core.quotePath=false`), so that names in any script can be read.
 */
export function quotePath(path: ByteString): ByteString {
  // oxlint-disable-next-line no-control-regex -- control characters are what has to be escaped
  const quoted = path.replace(/[\x00-\x1f\x7f"\\]/g, (char) => escapes.get(char) ?? octal(char))
  return quoted === path ? path : `"${quoted}"`
}

function octal(char: string): string {
  return `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`
}
