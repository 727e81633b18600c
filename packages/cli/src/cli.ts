import type { Readable } from 'node:stream'
import type { Output } from './output/output.ts'

/** The process as commands see it, so that they can be run without one. */
export interface Cli {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly home: string
  readonly stdin: Readable & { readonly isTTY?: boolean }
  readonly out: Output
  /** Progress, questions and warnings; never results. */
  readonly err: Output
  /** Aborts on Ctrl-C and SIGTERM. */
  readonly signal: AbortSignal
  /** Done when Ctrl-C or SIGTERM comes once more, before everything ends; what else is under way is not waited for. */
  readonly onHurry: (tidy: () => Promise<void>) => void
  readonly isJson: boolean
}
