/**
 * A command that can be typed as it is printed: what is put into the text is one word of a shell's each, whatever it
 * holds. A colon right before it belongs to it.
 */
export function commandLine(texts: TemplateStringsArray, ...words: readonly string[]): string {
  return texts.reduce((line, text, index) => {
    const word = words[index - 1]!
    return line.endsWith(' :') || line === ':'
      ? `${line.slice(0, -1)}${shellWord(`:${word}`)}${text}`
      : `${line}${shellWord(word)}${text}`
  })
}

/** So that a shell reads it as one word. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
