import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  inputRequired,
  type InputRequiredResult,
  inputResponse,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { Tool } from '../tool.ts'

const question = 'confirm'
const answer = z.object({ confirm: z.boolean() })

/**
 * Asks a person before a call that removes something, where the client can. Others see it in the tool's annotations.
 * `yes` also means that there is no one to ask.
 */
export function askPerson(
  server: Server,
  tool: Tool,
  input: Readonly<Record<string, unknown>>,
  { mcpReq }: ServerContext,
): 'yes' | 'no' | InputRequiredResult {
  if (tool.effect !== 'removes' || input['dry_run'] === true) return 'yes'
  // Each request of 2026 brings its capabilities; the SDK gives the envelope no type.
  const envelope = mcpReq.envelope as
    | { readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities }
    | undefined
  const capabilities = envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities()
  if (capabilities?.elicitation === undefined) return 'yes'
  const { inputResponses } = mcpReq
  if (inputResponse(inputResponses, question).kind === 'elicit')
    return acceptedContent(inputResponses, question, answer)?.confirm === true ? 'yes' : 'no'
  const words = JSON.stringify(input).slice(0, 500)
  const elicit = inputRequired.elicit({
    message: `${tool.title}: ${words}?`,
    requestedSchema: answer,
  })
  return inputRequired({ inputRequests: { [question]: elicit } })
}
