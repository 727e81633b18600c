/** A longer line is a minified file or data: its beginning is enough to know that. */
const lineCharsMax = 2000

/** `    12\tconst a = 1`, as coding agents know it from `cat -n`. */
export function numberLine(number: number, line: string): string {
  const cut = line.length > lineCharsMax
  const shown = cut
    ? `${line.slice(0, lineCharsMax)} [${line.length - lineCharsMax} more characters]`
    : line
  return `${String(number).padStart(6)}\t${shown}`
}

/** The lines of a text without their ends. A newline at the end begins no line. */
export function splitLines(text: string): string[] {
  const lines = text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
  if (lines.at(-1) === '') lines.pop()
  return lines
}
