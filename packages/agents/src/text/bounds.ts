/** No answer of a tool is longer: about 16,000 tokens. */
export const answerCharsMax = 65_536

/** A text cut at a line's end where it is too long, with a line that says how to see the rest. */
export function cutText(text: string, how: string): { text: string; isCut: boolean } {
  if (text.length <= answerCharsMax) return { text, isCut: false }
  const end = text.lastIndexOf('\n', answerCharsMax)
  const kept = text.slice(0, end > 0 ? end : answerCharsMax)
  return { text: `${kept}\n[${text.length - kept.length} more characters. ${how}]`, isCut: true }
}

const lineCharsMax = 500

/** One line among many: the beginning of a longer one is enough to judge it by. */
export function cutLine(line: string): string {
  const more = line.length - lineCharsMax
  return more > 0 ? `${line.slice(0, lineCharsMax)} [${more} more characters]` : line
}

/** `1 path`, `2 paths` */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
