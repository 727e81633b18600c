import { type AgentMiddleware, createMiddleware } from 'langchain'
import { withToolCall } from '../tool-call.ts'

/**
 * Puts the ids of tool calls into the log, for files and commands.
 *
 * @example
 * ```ts
 * const agent = createDeepAgent({ model, backend, middleware: [cairnToolCalls()] })
 * ```
 */
export function cairnToolCalls(): AgentMiddleware {
  return createMiddleware({
    name: 'CairnToolCalls',
    wrapToolCall: (request, handler) => {
      const { id } = request.toolCall
      return id === undefined ? handler(request) : withToolCall(id, () => handler(request))
    },
  })
}
