import { type Grant, grantOfToken, parseToken } from '@cairn/protocol'

/** What a token says of itself; undefined for an owner's key. The server decides whether it is true and still valid. */
export function grantOfKey(apiKey: string): Grant | undefined {
  const token = parseToken(apiKey)
  return token && grantOfToken(token)
}
