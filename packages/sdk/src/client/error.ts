import { type ApiErrorBody, type CairnError, fromErrorBody } from '@cairn/protocol'

export { CairnError, isCairnError } from '@cairn/protocol'

/** What only the client knows about a request that failed. */
export interface Exchange {
  /** What the caller asked for: it means more to them than the route that the server names. */
  readonly what: string
  readonly status: number
  readonly retryAfterMs: number | undefined
}

/** Rebuilds the error in the body of an answer; undefined when the body is not a Cairn server's. */
export function readErrorBody(body: string, exchange: Exchange): CairnError | undefined {
  const error = parseErrorBody(body)
  return error === undefined ? undefined : fromErrorBody({ ...error, ...exchange })
}

function parseErrorBody(body: string): ApiErrorBody['error'] | undefined {
  try {
    const error = (JSON.parse(body) as Partial<ApiErrorBody> | null)?.error
    return typeof error?.code === 'string' && typeof error.reason === 'string' ? error : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
