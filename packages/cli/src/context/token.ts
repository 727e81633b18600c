import { usageError } from '../errors.ts'

/** What a delegated token says of itself. Only for showing and for finding its server: the server decides. */
export interface TokenClaims {
  readonly issuer: string | undefined
  readonly subject: string | undefined
  readonly workspace: string | undefined
  readonly scope: readonly string[]
  readonly expiresAt: string | undefined
}

/** Reads the middle part of a JWT. Its signature is the server's business. */
export function readToken(token: string): TokenClaims {
  const claims = decodeClaims(token.split('.'))
  const { iss, sub, workspace, scope, exp } = claims
  return {
    issuer: textOrNothing(iss),
    subject: textOrNothing(sub),
    workspace: textOrNothing(workspace),
    scope: Array.isArray(scope) ? scope.map(String) : typeof scope === 'string' ? [scope] : [],
    expiresAt: typeof exp === 'number' ? new Date(exp * 1000).toISOString() : undefined,
  }
}

function decodeClaims(parts: readonly string[]): Record<string, unknown> {
  try {
    if (parts.length !== 3) throw new TypeError('it has not three parts')
    const claims: unknown = JSON.parse(Buffer.from(parts[1]!, 'base64url').toString('utf8'))
    if (typeof claims !== 'object' || claims === null) throw new TypeError('it holds no object')
    return claims as Record<string, unknown>
  } catch (error) {
    if (
      !(error instanceof TypeError || error instanceof SyntaxError || error instanceof RangeError)
    )
      throw error
    throw usageError('read the token', 'it is no JWT', 'Give the file that holds the token alone.')
  }
}

function textOrNothing(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
