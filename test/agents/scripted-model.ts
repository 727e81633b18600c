import { MockLanguageModelV4 } from 'ai/test'

type Step = readonly [toolName: string, input: object, id?: string]

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}

/** A model of the AI SDK that makes these calls, one a step, and then is done. */
export function scriptedModel(steps: readonly Step[]): MockLanguageModelV4 {
  let at = 0
  return new MockLanguageModelV4({
    doGenerate: async () => {
      const step = steps[at++]
      if (step === undefined)
        return {
          content: [{ type: 'text', text: 'done' }],
          finishReason: { unified: 'stop', raw: undefined },
          usage,
          warnings: [],
        }
      const [toolName, input, toolCallId = `call-${at}`] = step
      const call = { toolCallId, toolName, input: JSON.stringify(input) }
      return {
        content: [{ type: 'tool-call', ...call }],
        finishReason: { unified: 'tool-calls', raw: undefined },
        usage,
        warnings: [],
      }
    },
  })
}
