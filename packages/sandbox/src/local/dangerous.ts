/**
 * Commands that are certainly mistakes: they would end the machine, or empty the workspace in it. A
 * jail protects the host without them, so commands that only the host would fear (sudo, a script
 * from the net) are allowed.
 */
const patterns: readonly RegExp[] = [
  /\brm\s+(?:-\S+\s+)*-\S*[rR]\S*\s+(?:-\S+\s+)*\/(?:\s|\*|$|;|&)/,
  /\b(?:shutdown|reboot|halt|poweroff)\b/,
  /\bmkfs\./,
  /\bdd\b.*\bof=\/dev\/(?!null|zero|full|shm\/)/,
  /:\s*\(\s*\)\s*\{\s*:\s*\|\s*:\s*&\s*\}/,
  /\bchmod\s+(?:-\S+\s+)*0?777\s+\/(?:\s|$|;|&)/,
  />\s*\/dev\/(?:sd|vd|nvme|xvd)/,
  /\bmkswap\b/,
  /\bswapon\b/,
]
const shownMax = 100

/** What to say instead of running it; undefined for all others. */
export function refuseDangerous(command: string): string | undefined {
  if (!patterns.some((pattern) => pattern.test(command))) return undefined
  return `Dangerous command blocked for security: ${command.slice(0, shownMax)}`
}
