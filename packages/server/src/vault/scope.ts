import type { VaultPermission, VaultScope } from '@cairn/protocol'

/** What a grant is about, as far as deciding goes. */
export interface Allowance {
  readonly scopes: readonly VaultScope[]
  readonly permissions: readonly VaultPermission[]
}

/** Whether a field may be read or written. */
export function allowsField(
  { scopes, permissions }: Allowance,
  permission: VaultPermission,
  secret: string,
  field: string,
): boolean {
  if (!permissions.includes(permission)) return false
  return scopes.some((scope) => matches(scope.secret, secret) && matches(scope.field ?? '*', field))
}

/** Whether a secret may be written as a whole: what is not named in it goes. */
export function allowsSecret(
  { scopes, permissions }: Allowance,
  permission: VaultPermission,
  secret: string,
): boolean {
  if (!permissions.includes(permission)) return false
  return scopes.some((scope) => matches(scope.secret, secret) && (scope.field ?? '*') === '*')
}

/** Whether anything of a secret is granted at all. */
export function concerns({ scopes }: Allowance, secret: string): boolean {
  return scopes.some((scope) => matches(scope.secret, secret))
}

export function matches(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern
}
