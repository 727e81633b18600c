import { languageModel } from './language-model.ts'
import { offlineSummariser } from './offline-summariser.ts'

export interface SourceFile {
  readonly path: string
  readonly text: string
}

/** Reads the code. It sits outside the sandboxes: its key never enters one. */
export interface Analyst {
  /** Stands below everything it wrote. */
  readonly name: string
  summarise(paths: readonly string[], read: readonly SourceFile[]): Promise<string>
  answer(question: string, read: readonly SourceFile[]): Promise<string>
}

const variables = ['LLM_API_KEY', 'LLM_BASE_URL', 'LLM_MODEL'] as const

/** A language model if one is configured; else something that needs none and says so. */
export function chooseAnalyst(env: Readonly<Record<string, string | undefined>>): {
  readonly analyst: Analyst
  readonly note: string
} {
  const missing = variables.filter((name) => !env[name])
  if (missing.length === variables.length)
    return {
      analyst: offlineSummariser,
      note: `no language model: the offline summariser writes (set ${variables.join(', ')} for one)`,
    }
  if (missing.length > 0)
    throw new Error(
      `cannot use a language model: ${missing.join(' and ')} not set. Set all of ${variables.join(', ')}, or none.`,
    )
  const [apiKey, baseUrl, model] = variables.map((name) => env[name]!) as [string, string, string]
  return {
    analyst: languageModel({ apiKey, baseUrl, model }),
    note: `the language model ${model} writes`,
  }
}
