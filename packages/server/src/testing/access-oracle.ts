import type { AccessOperation } from '@cairn/protocol'

export interface TokenRules {
  readonly allow: readonly {
    readonly path: string
    readonly operations: readonly AccessOperation[]
  }[]
  readonly deny: readonly string[]
}

/** What is allowed, in five lines that know nothing of the server's. */
export function may({ allow, deny }: TokenRules, operation: AccessOperation, at: string): boolean {
  const above = at.split('/').map((_, depth, all) => all.slice(0, depth + 1).join('/') || '/')
  const has = allow.some((rule) => above.includes(rule.path) && rule.operations.includes(operation))
  return has && !deny.some((denied) => above.includes(denied))
}
