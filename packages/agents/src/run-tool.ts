import { z } from 'zod'
import { explainFailure, ToolError } from './tool-error.ts'
import type { Tool, ToolAnswer, ToolSite } from './tool.ts'

export type ToolOutcome =
  | ({ readonly isError: false } & ToolAnswer)
  /** The model made a mistake or met a limit; the text says what to do next. */
  | { readonly isError: true; readonly text: string }

/** Checks the arguments, runs the tool, and turns every expected failure into a line for the model. */
export async function runTool(tool: Tool, input: unknown, site: ToolSite): Promise<ToolOutcome> {
  try {
    site.signal?.throwIfAborted()
    return { isError: false, ...(await tool.run(parseInput(tool, input), site)) }
  } catch (error) {
    site.signal?.throwIfAborted()
    const text = explainFailure(error)
    if (text === undefined) throw error
    return { isError: true, text }
  }
}

/** The arguments with their defaults. */
function parseInput(tool: Tool, input: unknown): Readonly<Record<string, unknown>> {
  const parsed = tool.input.safeParse(input ?? {})
  if (parsed.success) return parsed.data
  const known = Object.keys(tool.input.shape).join(', ')
  throw new ToolError(
    `use ${tool.name}: ${describeIssue(worstOf(parsed.error.issues))}`,
    `Call it again with the arguments of its schema: ${known}.`,
  )
}

/** A wrong name explains why another one is missing. */
function worstOf(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue | undefined {
  return issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0]
}

function describeIssue(issue: z.core.$ZodIssue | undefined): string {
  if (issue === undefined) return 'the arguments are wrong'
  if (issue.code === 'unrecognized_keys') return `there is no argument ${issue.keys.join(', ')}`
  const field = issue.path.length === 0 ? 'the arguments' : z.core.toDotPath(issue.path)
  const reason = issue.message.replace(
    /^Invalid input: expected (.+), received undefined$/,
    'missing, want $1',
  )
  return `${field}: ${reason}`
}
