import { tool, type ToolSet } from 'ai'
import { isToolCall } from '@cairn/protocol'
import { Cairn } from '@cairn/sdk'
import { toolsFor } from '../registry.ts'
import { runTool } from '../run-tool.ts'
import type { Tool, ToolShell } from '../tool.ts'
import { grantOfKey } from '../token-grant.ts'

export interface CairnToolsOptions {
  readonly server: string
  /** A token is better than an owner's key: the agent gets the tools that it allows. */
  readonly apiKey: string
  readonly workspace: string
  /** `main` unless given. */
  readonly layer?: string | undefined
  /** False: tools that remove something run without asking. They need approval unless given. */
  readonly approval?: boolean | undefined
  /** A sandbox with the workspace mounted: then there is the tool `bash`. */
  readonly shell?: ToolShell | undefined
}

/**
 * The tools of a workspace for `generateText`, `streamText` and agents of the AI SDK. The log has each call's id.
 *
 * @example
 * ```ts
 * const tools = cairnTools({ server: 'http://127.0.0.1:7070', apiKey, workspace: 'default' })
 * const { text } = await generateText({ model, tools, prompt: 'Fix the failing test.' })
 * ```
 */
export function cairnTools(options: CairnToolsOptions): ToolSet {
  const shown = toolsFor(grantOfKey(options.apiKey), options.shell)
  return Object.fromEntries(shown.map((one) => [one.name, adapt(one, options)]))
}

function adapt(one: Tool, options: CairnToolsOptions): ToolSet[string] {
  const { server, apiKey, workspace, layer, shell, approval = true } = options
  return tool({
    title: one.title,
    description: one.description,
    inputSchema: one.input,
    needsApproval: approval && one.effect === 'removes',
    execute: async (input, { toolCallId, abortSignal: signal }) => {
      const toolCall = isToolCall(toolCallId) ? toolCallId : undefined
      const cairn = new Cairn({ server, apiKey, toolCall })
      const outcome = await runTool(one, input, {
        cairn,
        workspace,
        layer,
        shell,
        toolCall,
        signal,
      })
      // The SDK shows the model the message of what a tool throws.
      if (outcome.isError) throw new Error(outcome.text)
      return { text: outcome.text, ...outcome.data }
    },
    toModelOutput: ({ output }) => ({ type: 'text', value: (output as { text: string }).text }),
  }) as ToolSet[string]
}
