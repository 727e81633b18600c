import { z } from 'zod'
import type { Jobs } from '../jobs/jobs.ts'
import type { HarnessTool } from './harness-tools.ts'

const input = z.object({
  statusId: z.string().regex(/^[A-Za-z0-9_-]{1,128}$/),
  action: z.enum(['status', 'logs', 'stop']).default('status'),
})

/** How background commands are doing. */
export function jobTool(jobs: Jobs): HarnessTool {
  return {
    name: 'async_status',
    title: 'Ask for a background command',
    description:
      'Tells whether a background command runs and how it ended. "logs" gives the last 64 KiB of its output, also while ' +
      'it runs; "stop" ends it.',
    input,
    needsApproval: false,
    run: async (asked) => {
      const parsed = input.safeParse(asked)
      if (!parsed.success)
        return { text: `cannot use async_status: ${parsed.error.message}`, isError: true }
      const { statusId, action } = parsed.data
      try {
        if (action === 'logs') return { text: await jobs.logs(statusId), isError: false }
        const { status, exitCode } = await jobs[action](statusId)
        const code = exitCode === undefined ? '' : ` (exit code ${exitCode})`
        return { text: `${status}${code}`, isError: false }
      } catch (error) {
        return { text: error instanceof Error ? error.message : String(error), isError: true }
      }
    },
  }
}
