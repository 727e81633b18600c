import type { Analyst, SourceFile } from './analyst.ts'

/** No intelligence: first sentences, names, counts and words in common. Enough to see that work crosses. */
export const offlineSummariser: Analyst = {
  name: 'offline summariser, no language model',
  summarise: (paths, read) => Promise.resolve(summarise(paths, read)),
  answer: (question, read) => Promise.resolve(answer(question, read)),
}

const passagesMax = 4

function summarise(paths: readonly string[], read: readonly SourceFile[]): string {
  const purpose = read.map(({ text }) => firstParagraph(text)).find((found) => found !== undefined)
  const sections = {
    Purpose: [purpose ?? 'Nothing says what it is for.'],
    Structure: countBy(paths, kindOf).map(([kind, count]) => `- ${kind}: ${count}`),
    'Main files': read.map(({ path, text }) => `- ${path}: ${describeFile(text)}`),
    'Open ends': read.flatMap(({ path, text }) => openEnds(path, text)),
  }
  const written = Object.entries(sections).map(
    ([name, lines]) => `## ${name}\n\n${lines.join('\n') || 'None found.'}\n`,
  )
  return `# Code summary\n\n${written.join('\n')}`
}

/** The first prose of a document: neither heading nor code. */
function firstParagraph(text: string): string | undefined {
  if (!text.startsWith('#') || text.startsWith('#!')) return undefined
  return text.split(/\n\s*\n/).find((part) => /^[A-Za-z]/.test(part))
}

function describeFile(text: string): string {
  const names = [
    ...text.matchAll(/^(?:export |pub )?(?:async )?(?:function|def|fn|class|func) (\w+)/gm),
  ]
  const lines = text.split('\n').length - 1
  const has = names.length === 0 ? '' : `; defines ${names.map(([, name]) => name).join(', ')}`
  return `${lines} lines${has}`
}

function openEnds(path: string, text: string): string[] {
  return [...text.matchAll(/\b(?:TODO|FIXME)\b:?\s*(.*)$/gm)].map(
    ([, what]) => `- ${path}: ${what}`,
  )
}

function kindOf(path: string): string {
  return /\.(\w+)$/.exec(path)?.[1] ?? 'without a suffix'
}

function countBy(items: readonly string[], key: (item: string) => string): [string, number][] {
  const counts = new Map<string, number>()
  for (const item of items) counts.set(key(item), (counts.get(key(item)) ?? 0) + 1)
  return [...counts].toSorted(([, a], [, b]) => b - a)
}

/** The passages that share most words with the question, with where they stand. */
function answer(question: string, read: readonly SourceFile[]): string {
  const asked = wordsOf(question)
  const passages = read.flatMap(({ path, text }) =>
    text
      .split(/\n(?=#|\s*\n)/)
      .map((passage) => ({ path, passage, shared: countShared(passage, asked) })),
  )
  const best = passages
    .filter(({ shared }) => shared > 0)
    .toSorted((a, b) => b.shared - a.shared)
    .slice(0, passagesMax)
  const [summary] = read
  if (best.length === 0) return `From the summary:\n\n${summary?.text ?? ''}`
  return best.map(({ path, passage }) => `From ${path}:\n\n${passage.trim()}`).join('\n\n')
}

/** In every question, and in half of all files. */
const common = new Set(['what', 'does', 'this', 'that', 'with', 'from', 'left', 'have', 'project'])

function wordsOf(text: string): Set<string> {
  const words = text.toLowerCase().match(/[a-z]{4,}/g) ?? []
  return new Set(words.filter((word) => !common.has(word)))
}

function countShared(passage: string, asked: ReadonlySet<string>): number {
  return [...wordsOf(passage)].filter((word) => asked.has(word)).length
}
