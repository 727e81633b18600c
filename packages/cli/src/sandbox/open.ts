import { join } from 'node:path'
import type * as sandboxPackage from '@cairn/sandbox'
import type { Cli } from '../cli.ts'
import { cliError } from '../errors.ts'

/** Options of every command that talks to a server that speaks E2B. */
export const sandboxOptions = {
  data: {
    kind: 'text',
    value: 'DIR',
    summary: 'Data directory of a local server (default: ~/.cairn/sandboxes)',
  },
} as const

type Sandboxes = Awaited<ReturnType<typeof sandboxPackage.connectE2B>>

export function dataOf(cli: Cli, data: string | undefined): string {
  return data ?? join(cli.home, '.cairn', 'sandboxes')
}

/** E2B's own, or the local server: whichever the environment names, else the one that runs on this machine. */
export async function openSandboxes(cli: Cli, data: string | undefined): Promise<Sandboxes> {
  const { connectE2B } = await import('@cairn/sandbox')
  return connectE2B(await findSandboxes(cli, data))
}

/** Where they are, and the key. */
export async function findSandboxes(
  cli: Cli,
  data: string | undefined,
): Promise<sandboxPackage.E2BConnection> {
  const { findRunningServer } = await import('@cairn/sandbox')
  const named = data === undefined ? fromEnvironment(cli.env) : undefined
  if (named !== undefined) return named
  const running = await findRunningServer(dataOf(cli, data))
  if (running !== undefined) return running
  throw cliError(
    'not_configured',
    'find a server of sandboxes',
    'E2B_API_KEY is not set and none runs here',
    'Start one with: cairn sandbox serve; or set E2B_API_KEY.',
  )
}

function fromEnvironment(env: Cli['env']): sandboxPackage.E2BConnection | undefined {
  const { E2B_API_KEY: apiKey, E2B_API_URL: url } = env
  if (!apiKey) return undefined
  return { apiKey, ...(url && { url }) }
}

/** What the SDK throws, as every other failure is told. */
export async function asking<Result>(what: string, ask: () => Promise<Result>): Promise<Result> {
  try {
    return await ask()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw cliError(
      'sandbox_failed',
      what,
      reason,
      'See what there is with: cairn sandbox ls.',
      error,
    )
  }
}
