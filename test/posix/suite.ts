import { describe, expect, it } from 'vitest'
import type { Question } from './question.ts'
import { questions } from './questions.ts'
import type { Subject } from './subject.ts'

/** Called once per question. `dispose` is called whether the question was answered well or not. */
export type SubjectSetup = () => Promise<{
  readonly subject: Subject
  readonly dispose: () => Promise<void>
}>

/**
 * What a subject does not answer, and why. A key is a whole fact, or a family: what stands before
 * its `›`. A key that names no question is an error, so the list cannot outlive the questions.
 */
export type Gaps = Readonly<Record<string, string>>

export interface PosixQuestionsOptions {
  /**
   * Whether the subject has privileges and other users; by default, whether the tests run as root.
   */
  readonly root?: boolean
  readonly gaps?: Gaps
}

/** Registers one test per question; the test is named by the fact. */
export function runPosixQuestions(
  name: string,
  setup: SubjectSetup,
  { root = process.geteuid?.() === 0, gaps = {} }: PosixQuestionsOptions = {},
): void {
  checkNames(gaps)
  describe(name, () => {
    for (const question of questions) {
      const gap = findGap(question, root, gaps)
      if (gap === undefined) it(question.fact, () => answer(question, setup))
      else it.skip(`${question.fact} (${gap})`)
    }
  })
}

async function answer(question: Question, setup: SubjectSetup): Promise<void> {
  const { subject, dispose } = await setup()
  try {
    expect(await question.ask(subject)).toEqual(question.expect)
  } finally {
    await dispose()
  }
}

function findGap(question: Question, root: boolean, gaps: Gaps): string | undefined {
  if (question.root === true && !root) return 'needs root'
  return gaps[question.fact] ?? gaps[familyOf(question)]
}

function checkNames(gaps: Gaps): void {
  const facts = new Set<string>()
  for (const { fact } of questions) {
    if (facts.has(fact)) throw new Error(`two questions are named "${fact}": rename one`)
    facts.add(fact)
  }
  const names = new Set([...facts, ...questions.map(familyOf)])
  for (const name of Object.keys(gaps)) {
    if (!names.has(name)) throw new Error(`no question is named "${name}": remove it from the gaps`)
  }
}

function familyOf({ fact }: Question): string {
  return fact.slice(0, fact.indexOf(' ›'))
}
