import { z } from 'zod'
import { type ProviderConfig, providerConfig, type ProviderInput } from './provider-config.ts'

export interface NamedProvider {
  /** For messages. Default: the provider's. */
  readonly name?: string
  readonly config: ProviderInput
}

/** Checks a configuration as it was stored. The error names the field, what is wrong, and what to write instead. */
export function parseProvider({ name, config }: NamedProvider): ProviderConfig {
  const parsed = providerConfig.safeParse(config)
  if (parsed.success) return parsed.data
  const shown = name ?? config.provider
  const problems = parsed.error.issues.map(describe)
  throw new Error(`cannot use sandbox ${shown}: ${problems.join(' ')}`)
}

const documented = ['lambda', 'daytona', 'kubernetes', 'vercel', 'sandbox']

function describe(issue: z.core.$ZodIssue): string {
  const field = z.core.toDotPath(issue.path) || 'the configuration'
  if (issue.code === 'unrecognized_keys')
    return issue.keys.includes('internet')
      ? `${field}.internet: there is no such option. Say network.mode instead.`
      : `${field}: it has no field ${issue.keys.join(', ')}. Remove it, or correct its name.`
  if (field === 'provider')
    return `provider: it must be e2b or local. Other providers (${documented.join(', ')}) are not served here.`
  return `${field}: ${issue.message.replace(/^Invalid input: /, '')}.`
}
