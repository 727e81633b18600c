import type { Grant } from '@cairn/protocol'
import { Cairn } from '@cairn/sdk'
import type { ToolShell } from '../tool.ts'
import { version } from '../version.ts'

/** The Cairn server and what to use there. Every rule of access stays with it. */
export interface McpOptions {
  readonly server: string
  readonly apiKey: string
  /** The runtime's own unless given. */
  readonly fetch?: typeof fetch | undefined
  /** For calls that name no workspace. */
  readonly workspace?: string | undefined
  /** For calls that name no layer; `main` unless given. */
  readonly layer?: string | undefined
  /** What the caller's token allows; undefined for an owner's key. Hides tools that it can use nowhere. */
  readonly grant?: Grant | undefined
  /** Where commands run; without it there is no tool `bash`. */
  readonly shell?: ToolShell | undefined
}

/** What the parts of an MCP server work on. */
export interface McpSite extends Pick<McpOptions, 'workspace' | 'layer' | 'grant' | 'shell'> {
  /** A client whose changes carry this tool call in the log. */
  readonly connect: (toolCall?: string) => Cairn
  readonly version: string
}

export function openSite({ workspace, layer, grant, shell, ...options }: McpOptions): McpSite {
  const connect = (toolCall?: string): Cairn => new Cairn({ ...options, toolCall })
  return { connect, workspace, layer, grant, shell, version }
}
