import type { Cairn } from '@cairn/sdk'
import { z } from 'zod'
import { tools } from '../../registry.ts'
import { runTool } from '../../run-tool.ts'
import type { Tool } from '../../tool.ts'
import type { ProviderConfig } from '../config/provider-config.ts'
import type { Harness } from '../harness.ts'
import { bashTool } from './bash.ts'
import { jobTool } from './job-status.ts'

/** A tool as a model of any framework takes it. */
export interface HarnessTool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: z.ZodObject
  /** By the permission mode. */
  readonly needsApproval: boolean
  run(input: unknown, call?: HarnessCall): Promise<HarnessAnswer>
}

export interface HarnessCall {
  /** The log has it beside what the call changed. */
  readonly toolCall?: string | undefined
  readonly signal?: AbortSignal | undefined
}

export interface HarnessAnswer {
  readonly text: string
  readonly isError: boolean
}

/** Tools that need no machine work on the workspace itself: they cost no start and see what every client sees. */
export interface HarnessSite {
  readonly openCairn: (toolCall: string | undefined) => Cairn
  readonly workspace: string
  readonly layer: string | undefined
  readonly isReadOnly: boolean
}

const withoutMachine = ['read', 'write', 'edit', 'glob', 'grep']
const mutating = ['write', 'edit']

export function harnessTools(
  harness: Harness,
  site: HarnessSite | undefined,
): readonly HarnessTool[] {
  const { permissionMode } = harness.config
  const shown = site === undefined ? [] : tools.filter(({ name }) => withoutMachine.includes(name))
  const files = shown.map((tool) => fileTool(tool, site!, permissionMode))
  const bash = bashTool(harness, site)
  return [...files, bash, ...(harness.jobs === undefined ? [] : [jobTool(harness.jobs)])]
}

function fileTool(
  tool: Tool,
  { openCairn, isReadOnly, ...place }: HarnessSite,
  mode: ProviderConfig['permissionMode'],
): HarnessTool {
  const { name, title, description } = tool
  const isRefused = isReadOnly && mutating.includes(name)
  return {
    name,
    title,
    description,
    input: withoutPlace(tool.input),
    // What is refused anyway is no question for a person.
    needsApproval: mutating.includes(name) && mode === 'ask' && !isReadOnly,
    run: async (input, { toolCall, signal } = {}) => {
      if (isRefused) return readOnlyAnswer(name)
      const fields = withoutPlace(tool.input).strict().safeParse(input)
      if (!fields.success) return { text: explain(name, fields.error), isError: true }
      const { text, isError } = await runTool(tool, input, {
        ...place,
        cairn: openCairn(toolCall),
        signal,
      })
      return { text, isError }
    },
  }
}

export function readOnlyAnswer(name: string): HarnessAnswer {
  const text = `cannot use ${name}: the workspace is read-only here. Use read, glob and grep.`
  return { text, isError: true }
}

/** A harness has one workspace, so its model names none. */
function withoutPlace({ shape }: z.ZodObject): z.ZodObject {
  const { workspace: _, layer: __, at: ___, ...rest } = shape
  return z.object(rest)
}

function explain(name: string, error: z.ZodError): string {
  const [issue] = error.issues
  return `cannot use ${name}: ${issue?.path.join('.')} ${issue?.message}. Call it again with the arguments of its schema.`
}
