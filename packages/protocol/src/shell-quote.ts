/**
 * One word of a command line for sh, bash and zsh, whatever is in it: between single quotes every character but the
 * quote itself stands for itself. NUL has no place in a command line, so callers refuse it first.
 */
export function shellQuote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}
