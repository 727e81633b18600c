import {
  type CallToolResult,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type Tool as McpTool,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import { toolsFor } from '../registry.ts'
import { runTool } from '../run-tool.ts'
import type { Tool } from '../tool.ts'
import { askPerson } from './ask.ts'
import { listResources, readResource } from './resources.ts'
import { resourceTemplate } from './resource-uri.ts'
import type { McpSite } from './site.ts'
import { toolCallOf } from './tool-call.ts'

const instructions =
  'Files of a Cairn workspace: durable, versioned, shared. Work in an attempt (attempt_create, then "layer" in every call) ' +
  'when others use the workspace too; commit it when it is right. Make a checkpoint before a risky change.'

/** One server for one connection or request, of any version of the protocol. */
export function createMcpServer(
  site: McpSite,
  { canSubscribe }: { canSubscribe: boolean },
): Server {
  const server = new Server(
    { name: 'cairn', title: 'Cairn', version: site.version },
    {
      capabilities: { tools: {}, resources: canSubscribe ? { subscribe: true } : {} },
      instructions,
    },
  )
  const connection = crypto.randomUUID().slice(0, 8)
  const tools = toolsFor(site.grant, site.shell)
  server.setRequestHandler('tools/list', () => ({ tools: tools.map(describeTool) }))
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const tool = tools.find(({ name }) => name === params.name)
    if (tool === undefined)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `cannot call ${params.name}: there is no such tool for this token. List the tools.`,
      )
    return callTool(server, site, tool, params.arguments ?? {}, context, connection)
  })
  server.setRequestHandler('resources/list', ({ params }, context) =>
    listResources(site, params?.cursor, context),
  )
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [
      {
        name: 'file',
        title: 'A file of a workspace',
        uriTemplate: resourceTemplate,
        description: 'layer: an attempt; at: a checkpoint',
      },
    ],
  }))
  server.setRequestHandler('resources/read', ({ params }, context) =>
    readResource(site, params.uri, context),
  )
  return server
}

async function callTool(
  server: Server,
  site: McpSite,
  tool: Tool,
  input: Readonly<Record<string, unknown>>,
  context: ServerContext,
  connection: string,
): Promise<CallToolResult | InputRequiredResult> {
  const asked = askPerson(server, tool, input, context)
  if (asked === 'no')
    return failed(`cannot use ${tool.name}: your user declined. Ask them what to do instead.`)
  if (asked !== 'yes') return asked
  const { workspace, layer, shell } = site
  const toolCall = toolCallOf(context, connection)
  const cairn = site.connect(toolCall)
  const { signal } = context.mcpReq
  const place = { cairn, workspace, layer, shell, toolCall, signal }
  const outcome = await runTool(tool, input, place)
  if (outcome.isError) return failed(outcome.text)
  return { content: [{ type: 'text', text: outcome.text }], structuredContent: { ...outcome.data } }
}

const failed = (text: string): CallToolResult => ({
  isError: true,
  content: [{ type: 'text', text }],
})

function describeTool({ name, title, description, input, output, effect }: Tool): McpTool {
  return {
    name,
    title,
    description,
    inputSchema: schemaOf(input, 'input'),
    outputSchema: schemaOf(output, 'output'),
    annotations: {
      title,
      readOnlyHint: effect === 'reads',
      destructiveHint: effect === 'removes',
      openWorldHint: false,
    },
  }
}

function schemaOf(schema: z.ZodObject, io: 'input' | 'output'): McpTool['inputSchema'] {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io })
  return rest as McpTool['inputSchema']
}
