import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const perDirectory = 100
const keywords = ['const', 'return', 'function', 'import', 'export', 'if', 'else', 'await', 'new']

/** Writes files of about 10 KiB that read like source: common words, and names that few files share. Gives their bytes. */
export function writeSources(directory: string, files: number): number {
  const random = generator(1)
  const names = Array.from({ length: 20_000 }, () => makeName(random))
  let bytes = 0
  for (let at = 0; at < files; at++) {
    const folder = join(directory, `packages/p${Math.floor(at / perDirectory)}/src`)
    if (at % perDirectory === 0) mkdirSync(folder, { recursive: true })
    // A file is about its own subject: it uses few of all names, and most of them often.
    const own = Array.from({ length: 60 }, () => names[Math.floor(random() ** 2 * names.length)]!)
    const text = sourceText(random, own, 4000 + random() * 12_000)
    writeFileSync(join(folder, `module-${at}.ts`), text)
    bytes += text.length
  }
  return bytes
}

function sourceText(random: () => number, names: readonly string[], length: number): string {
  const pick = (words: readonly string[]): string => words[Math.floor(random() * words.length)]!
  const lines: string[] = []
  for (let written = 0; written < length;) {
    const line = `  ${pick(keywords)} ${pick(names)} = ${pick(names)}.${pick(names)}(${pick(names)}, ${Math.floor(random() * 1000)})`
    lines.push(line)
    written += line.length + 1
  }
  return `${lines.join('\n')}\n`
}

/** The same numbers in each run. */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

function makeName(random: () => number): string {
  const letter = (letters: string): string => letters[Math.floor(random() * letters.length)]!
  const syllable = (): string => letter('bcdfghklmnprstvwz') + letter('aeiou') + letter('lmnrst')
  const length = 2 + Math.floor(random() * 4)
  const parts = Array.from({ length }, syllable)
  return parts
    .map((part, at) => (at === 0 ? part : part[0]!.toUpperCase() + part.slice(1)))
    .join('')
}
