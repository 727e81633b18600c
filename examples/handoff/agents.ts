import type { Sandbox } from '@cairn/sandbox'
import type { Analyst, SourceFile } from './analyst.ts'
import { pickFiles } from './pick-files.ts'
import type { Clone } from './repository.ts'

/** Where they leave what they found, for each other and for people. */
export const places = {
  summary: 'analysis/code-summary.md',
  handoff: 'analysis/handoff.json',
  answer: 'analysis/qa-response.md',
} as const

/** What the second agent has to know of the first one's work. */
interface Handoff {
  readonly repository: string
  readonly commit: string
  readonly directory: string
  readonly summary: string
  readonly analyst: string
  readonly filesRead: readonly string[]
}

const charactersMax = 20_000

/** Sandbox A's agent: reads some files, writes a summary and what is needed to go on from there. */
export async function writeAnalysis(
  sandbox: Sandbox,
  analyst: Analyst,
  { source, commit }: Clone,
): Promise<void> {
  const paths = await sandbox.fs.glob('project/**', { ignore: ['project/.git/**'], dot: true })
  const read = await readAll(sandbox, pickFiles(paths))
  const summary = await analyst.summarise(paths, read)
  await sandbox.fs.write(places.summary, sign(summary, analyst))
  const handoff: Handoff = {
    repository: source,
    commit,
    directory: 'project',
    summary: places.summary,
    analyst: analyst.name,
    filesRead: read.map(({ path }) => path),
  }
  await sandbox.fs.write(places.handoff, `${JSON.stringify(handoff, null, 2)}\n`)
}

/** Sandbox B's agent: knows nothing but what is in the workspace. */
export async function answerQuestion(
  sandbox: Sandbox,
  analyst: Analyst,
  question: string,
): Promise<void> {
  const handoff = JSON.parse(await sandbox.fs.read(places.handoff)) as Handoff
  const [summary] = await readAll(sandbox, [handoff.summary])
  const read = await readAll(sandbox, handoff.filesRead)
  const answer = await analyst.answer(question, [summary!, ...read])
  await sandbox.fs.write(places.answer, sign(`# ${question}\n\n${answer}`, analyst))
}

function sign(text: string, { name }: Analyst): string {
  return `${text.trim()}\n\n(${name})\n`
}

function readAll(sandbox: Sandbox, paths: readonly string[]): Promise<SourceFile[]> {
  return Promise.all(
    paths.map(async (path) => {
      const text = await sandbox.fs.read(path)
      return { path, text: text.slice(0, charactersMax) }
    }),
  )
}
