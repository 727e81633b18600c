import type { ToolExecutionContext } from '@mastra/core/tools'
import type { WorkspaceToolHooks } from '@mastra/core/workspace'
import { enterToolCall } from '../tool-call.ts'

/**
 * Puts the ids of an agent's tool calls into the log, for files and commands.
 *
 * @example
 * ```ts
 * const workspace = new Workspace({ filesystem, sandbox, tools: { hooks: cairnToolCalls() } })
 * ```
 */
export function cairnToolCalls(): WorkspaceToolHooks {
  return {
    beforeToolCall: ({ context }) => {
      const { agent } = context as Pick<ToolExecutionContext, 'agent'>
      const toolCallId = agent?.toolCallId
      if (toolCallId !== undefined) enterToolCall(toolCallId)
    },
  }
}
