import type { AccessOperation } from '@cairn/protocol'
import type { Cairn } from '@cairn/sdk'
import type { z } from 'zod'

/**
 * What a tool may do to the workspace. `removes` is a change that a person may want to stop: with MCP the client asks,
 * everywhere else the caller reads it from here.
 */
export type Effect = 'reads' | 'changes' | 'removes'

/** Where a call works. Every rule of access stays with the server that `cairn` talks to. */
export interface ToolSite {
  readonly cairn: Cairn
  /** For calls that name no workspace. */
  readonly workspace?: string | undefined
  /** For calls that name no layer; `main` unless given. */
  readonly layer?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** The call of the model that this is; `cairn` has it, too. */
  readonly toolCall?: string | undefined
  /** Where commands run; without it there is no tool `bash`. */
  readonly shell?: ToolShell | undefined
}

/** A sandbox with the workspace mounted, such as those of `@cairn/sandbox`. */
export interface ToolShell {
  exec(
    command: string,
    options?: { readonly timeoutMs?: number },
  ): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>
}

export interface ToolAnswer<Data = Readonly<Record<string, unknown>>> {
  /** What the model reads. Bounded: it says how to get the rest. */
  readonly text: string
  /** The same for programs, as the tool's `output` describes it. */
  readonly data: Data
}

interface ToolWords {
  readonly name: string
  /** For people: two or three words. */
  readonly title: string
  /** For the model. */
  readonly description: string
  /** A token must allow one of these somewhere, or the tool is not shown to it. The server decides each call. */
  readonly needs: readonly AccessOperation[]
  readonly effect: Effect
  /** It is not shown where there is no sandbox. */
  readonly needsShell?: boolean
}

export interface Tool extends ToolWords {
  readonly input: z.ZodObject
  readonly output: z.ZodObject
  /** Takes what `input` has parsed. Throws ToolError or CairnError. */
  run(input: Readonly<Record<string, unknown>>, site: ToolSite): Promise<ToolAnswer>
}

/**
 * Ties a tool's code to its schemas: what it takes and gives has the types that they promise. An argument that it does not
 * know is refused: left out silently, `checkpoint` in place of `to` would roll back everything.
 */
export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  definition: ToolWords & {
    readonly input: Input
    readonly output: Output
    readonly run: (input: z.output<Input>, site: ToolSite) => Promise<ToolAnswer<z.output<Output>>>
  },
): Tool {
  return { ...definition, input: definition.input.strict() } as unknown as Tool
}
