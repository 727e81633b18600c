import type { Telemetry } from 'ai'
import { withToolCall } from '../tool-call.ts'

/**
 * Puts the ids of tool calls into the log, for tools that work in a sandbox or with `cairnFileSystem`. Those of `cairnTools`
 * need it not.
 *
 * @example
 * ```ts
 * const telemetry = { integrations: cairnToolCalls() }
 * await generateText({ model, tools, prompt, telemetry, experimental_sandbox: sandboxSession(sandbox) })
 * ```
 */
export function cairnToolCalls(): Telemetry {
  return { executeTool: ({ toolCallId, execute }) => withToolCall(toolCallId, execute) }
}
