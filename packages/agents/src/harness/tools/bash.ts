import { z } from 'zod'
import type { Harness, RunResult } from '../harness.ts'
import { type HarnessSite, type HarnessTool, readOnlyAnswer } from './harness-tools.ts'

export function bashTool(harness: Harness, site: HarnessSite | undefined): HarnessTool {
  const { config } = harness
  const isReadOnly = site?.isReadOnly ?? false
  const input = z.object({
    command: z
      .string()
      .min(1)
      .max(1 << 20),
    ...(config.persistent && {
      background: z
        .boolean()
        .default(false)
        .describe('Do not wait for it: gives an id for async_status'),
    }),
  })
  return {
    name: 'bash',
    title: 'Run a command',
    description: describe(harness, site),
    input,
    needsApproval: config.permissionMode !== 'bypass' && !isReadOnly,
    run: async (asked, { toolCall, signal } = {}) => {
      if (isReadOnly) return readOnlyAnswer('bash')
      const parsed = input.safeParse(asked)
      if (!parsed.success)
        return { text: `cannot use bash: ${parsed.error.message}`, isError: true }
      const envVars = toolCall === undefined ? {} : { CAIRN_TOOL_CALL: toolCall }
      const request = { code: parsed.data.command, envVars, signal }
      const { background } = parsed.data as { readonly background?: boolean }
      try {
        if (background !== true) return { text: textOf(await harness.run(request)), isError: false }
        const { id } = await harness.startJob(request)
        return {
          text: `Started in the background. Ask async_status with statusId ${id}.`,
          isError: false,
        }
      } catch (error) {
        signal?.throwIfAborted()
        return { text: error instanceof Error ? error.message : String(error), isError: true }
      }
    },
  }
}

function describe({ config, mountPath }: Harness, site: HarnessSite | undefined): string {
  const limits = `A command has ${config.timeout} s.`
  if (site !== undefined)
    return config.persistent
      ? `Runs a bash command in the workspace (${mountPath}). Files, installs and processes stay. ${limits}`
      : `Runs a bash command in the workspace (${mountPath}). Its files stay, everything else of the machine is new each time. ${limits}`
  return config.persistent
    ? `Runs a bash command in a machine whose files and processes stay. ${limits}`
    : `Runs a bash command in a new machine. Nothing stays: do dependent steps in one command, with files under /tmp. ${limits}`
}

/** What the model reads: both streams, and how it ended where that was not well. */
function textOf({ stdout, stderr, exitCode, timedOut, truncated }: RunResult): string {
  const parts = [stdout, stderr]
    .filter((part) => part !== '')
    .map((part) => part.replace(/\n$/, ''))
  if (truncated) parts.push('[More output was left out. Send it to a file and read that.]')
  if (timedOut) parts.push('[It took too long and was ended.]')
  else if (exitCode !== 0) parts.push(`[It ended with ${exitCode}.]`)
  return parts.length === 0 ? '[No output.]' : parts.join('\n')
}
