import { createInterface } from 'node:readline/promises'
import type { Cli } from '../cli.ts'
import { usageError } from '../errors.ts'

export const yesOption = { kind: 'flag', short: 'y', summary: 'Do not ask' } as const

/** Asks before something that cannot be undone. Without a terminal, `--yes` is required. */
export async function confirm(cli: Cli, isYes: boolean, what: string): Promise<void> {
  if (isYes) return
  if (cli.stdin.isTTY !== true || !cli.err.isTerminal)
    throw usageError(what, 'there is no terminal to ask on', 'Give --yes.')
  await cli.err.raw(`really ${what}? [y/N] `)
  const lines = createInterface({ input: cli.stdin })
  try {
    const answer = await lines.question('', { signal: cli.signal })
    if (/^y(es)?$/i.test(answer.trim())) return
  } finally {
    lines.close()
  }
  throw usageError(what, 'you said no', 'Nothing was changed.')
}
