export const vaultPermissions = ['read', 'write'] as const
export type VaultPermission = (typeof vaultPermissions)[number]

export const vaultOutcomes = ['ok', 'denied', 'missing'] as const
export type VaultOutcome = (typeof vaultOutcomes)[number]
