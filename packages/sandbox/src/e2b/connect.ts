import type { E2B } from 'e2b'

export interface E2BConnection {
  readonly apiKey: string
  /** The URL of a server that speaks E2B. Default: E2B's own. */
  readonly url?: string
}

/** The SDK's own classes, bound to one account or server. */
export async function connectE2B({ apiKey, url }: E2BConnection): Promise<E2B> {
  const sdk = await import('e2b')
  return new sdk.E2B({ apiKey, ...(url && { apiUrl: url, sandboxUrl: url }) })
}
