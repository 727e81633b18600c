const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const

export type Colour = keyof typeof codes

/** On a terminal, unless NO_COLOR is set (no-color.org) or the terminal can do nothing. */
export function takesColour(
  isTerminal: boolean,
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  return isTerminal && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
}

export function paint(text: string, colour: Colour): string {
  return `\x1b[${codes[colour]}m${text}\x1b[0m`
}

/** A unified diff as git shows it. */
export function paintPatch(patch: string): string {
  return patch
    .split('\n')
    .map((line) => {
      const colour = colourOf(line)
      return colour === undefined ? line : paint(line, colour)
    })
    .join('\n')
}

function colourOf(line: string): Colour | undefined {
  if (/^(diff |index |--- |\+\+\+ |(new|deleted|old) |rename |similarity )/.test(line))
    return 'bold'
  if (line.startsWith('@@')) return 'cyan'
  if (line.startsWith('+')) return 'green'
  return line.startsWith('-') ? 'red' : undefined
}
