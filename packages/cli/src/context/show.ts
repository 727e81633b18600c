import type { SavedContext } from './config.ts'

/** Enough of a secret to recognise it by, and not more. */
export function maskSecret(secret: string): string {
  return secret.length < 16 ? '****' : `${secret.slice(0, 4)}****${secret.slice(-4)}`
}

/** A token that has run out is told without asking the server; others may have been revoked all the same. */
export function statusOf({ expiresAt }: Pick<SavedContext, 'expiresAt'>, now: Date): string {
  return expiresAt !== undefined && new Date(expiresAt) <= now ? 'expired' : 'active'
}
