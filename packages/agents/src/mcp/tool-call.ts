import { isToolCall } from '@cairn/protocol'
import type { ServerContext } from '@modelcontextprotocol/server'

/** Where clients put the id of the call that the model made, the first that is there. */
const keys = ['cairn/tool-call', 'claudecode/toolUseId', 'traceparent'] as const

/** For the log. A client that names no call gets an id that no other call of this server has. */
export function toolCallOf({ mcpReq }: ServerContext, connection: string): string {
  const meta = mcpReq._meta as Readonly<Record<string, unknown>> | undefined
  const named = keys.map((key) => meta?.[key]).find(isToolCall)
  return named ?? `mcp-${connection}-${mcpReq.id}`
}
