/** No answer of a tool is longer: about 16,000 tokens. */
export const answerCharsMax = 65_536

/** A text cut at a line's end where it is too long, with a line that says how to see the rest. */
export function cutText(text: string, how: string): { text: string; isCut: boolean } {
  if (text.length <= answerCharsMax) return { text, isCut: false }
  const end = text.lastIndexOf('\n', answerCharsMax)
  const kept = text.slice(0, end > 0 ? end : answerCharsMax)
  return { text: `${kept}\n[${text.length - kept.length} more characters. ${how}]`, isCut: true }
}

/** `1 path`, `2 paths` */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
