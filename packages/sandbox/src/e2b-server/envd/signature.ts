import { createHash, timingSafeEqual } from 'node:crypto'

export type FileOperation = 'read' | 'write'

/** Whether the address was signed with this token, for this operation. It may have expired. */
export function isSigned(query: URLSearchParams, operation: FileOperation, token: string): boolean {
  const signature = query.get('signature')
  const username = query.get('username') ?? ''
  // E2B signs the fields joined by colons. A path may have some; as long as no other field has any, each signature is of
  // one path, operation and user alone: otherwise one for reading `/a:write:root` would write `/a`.
  if (signature === null || username.includes(':')) return false
  const expiry = query.get('signature_expiration')
  if (expiry !== null && !/^\d{1,15}$/.test(expiry)) return false
  const parts = [query.get('path') ?? '', operation, username, token]
  return isEqual(signature, sign(expiry === null ? parts : [...parts, expiry]))
}

/** Why the address is not good, in E2B's words; undefined if it is. */
export function whyNotSigned(
  query: URLSearchParams,
  operation: FileOperation,
  token: string,
  nowMs: number,
): string | undefined {
  if (!query.has('signature')) return 'missing signature query parameter'
  if (!isSigned(query, operation, token)) return 'invalid signature'
  const expiry = query.get('signature_expiration')
  const isOver = expiry !== null && Number(expiry) * 1000 < nowMs
  return isOver ? 'signature is already expired' : undefined
}

function sign(parts: readonly string[]): string {
  const hash = createHash('sha256').update(parts.join(':')).digest('base64')
  return `v1_${hash.replace(/=+$/, '')}`
}

/** Takes the same time wherever they differ. */
export function isEqual(given: string, wanted: string): boolean {
  const a = createHash('sha256').update(given).digest()
  const b = createHash('sha256').update(wanted).digest()
  return timingSafeEqual(a, b)
}
