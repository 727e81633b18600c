/** Connect's codes, each with the HTTP status of a call that is no stream. */
const statusOf = {
  canceled: 499,
  unknown: 500,
  invalid_argument: 400,
  deadline_exceeded: 504,
  not_found: 404,
  already_exists: 409,
  permission_denied: 403,
  resource_exhausted: 429,
  failed_precondition: 400,
  unimplemented: 501,
  internal: 500,
  unavailable: 503,
  unauthenticated: 401,
} as const

export type RpcCode = keyof typeof statusOf

/** What a caller of envd's services is told. */
export class RpcError extends Error {
  readonly code: RpcCode

  constructor(code: RpcCode, message: string) {
    super(message)
    this.code = code
  }

  get status(): number {
    return statusOf[this.code]
  }
}

export function toRpcError(error: unknown): RpcError {
  if (error instanceof RpcError) return error
  return new RpcError('internal', error instanceof Error ? error.message : String(error))
}
