import type { Analyst, SourceFile } from './analyst.ts'

interface ModelOptions {
  readonly apiKey: string
  /** Before `/chat/completions`. */
  readonly baseUrl: string
  readonly model: string
}

const timeoutMs = 120_000

const summaryTask =
  'Summarise this repository for a colleague who will continue the work and cannot ask you. Markdown with four sections: ' +
  'Purpose, Structure, Main files, Open ends. Say only what the files show.'
const answerTask =
  'Answer the question from these files alone, in Markdown. Name the files you rely on.'

/** Any service that answers `/chat/completions` as OpenAI does. */
export function languageModel({ apiKey, baseUrl, model }: ModelOptions): Analyst {
  const ask = async (task: string, content: string): Promise<string> => {
    const url = `${baseUrl.replace(/\/+$/, '')}/chat/completions`
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model,
        messages: [
          { role: 'system', content: task },
          { role: 'user', content },
        ],
      }),
      signal: AbortSignal.timeout(timeoutMs),
    })
    const said = await response.text()
    if (!response.ok) throw refused(model, `${response.status} ${said.slice(0, 300)}`)
    return contentOf(said) ?? Promise.reject(refused(model, 'its answer has no content'))
  }
  return {
    name: `language model ${model}`,
    summarise: (paths, read) =>
      ask(summaryTask, `All files:\n${paths.join('\n')}\n\n${show(read)}`),
    answer: (question, read) => ask(answerTask, `${show(read)}\n\nQuestion: ${question}`),
  }
}

function contentOf(body: string): string | undefined {
  const { choices } = JSON.parse(body) as {
    choices?: readonly { readonly message?: { readonly content?: string } }[]
  }
  return choices?.[0]?.message?.content
}

function show(files: readonly SourceFile[]): string {
  return files.map(({ path, text }) => `=== ${path}\n${text}`).join('\n\n')
}

function refused(model: string, why: string): Error {
  return new Error(
    `cannot ask the language model ${model}: ${why}. Check LLM_BASE_URL, LLM_API_KEY and LLM_MODEL, or unset them.`,
  )
}
