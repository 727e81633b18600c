import { shellQuote } from '@cairn/protocol'
import type { ProviderConfig, Runtime } from './config/provider-config.ts'

const programs = { python: 'python3 -c', node: 'node -e' } as const

/** Code of any runtime as a command of the shell. */
export function commandOf(code: string, runtime: Runtime, { runtimes }: ProviderConfig): string {
  if (!runtimes.includes(runtime))
    throw new Error(
      `cannot run ${runtime}: the sandbox is configured for ${runtimes.join(', ')}. Use one of them, or change runtimes.`,
    )
  return runtime === 'bash' ? code : `${programs[runtime]} ${shellQuote(code)}`
}
