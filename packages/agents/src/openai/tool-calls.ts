import type { Agent, Runner } from '@openai/agents'
import { enterToolCall } from '../tool-call.ts'

type Emitter = Pick<Agent | Runner, 'on'>

/**
 * Puts the ids of tool calls into the log, for commands and patches: all of a runner, or those of one agent.
 *
 * @example
 * ```ts
 * cairnToolCalls(agent)
 * await run(agent, 'Fix the test.', { sandbox: { client } })
 * ```
 */
export function cairnToolCalls(source: Emitter): void {
  const follow = (...told: readonly unknown[]): void => {
    const { toolCall } = told.at(-1) as { readonly toolCall: { readonly callId?: string } }
    if (toolCall.callId !== undefined) enterToolCall(toolCall.callId)
  }
  source.on('agent_tool_start', follow)
}
