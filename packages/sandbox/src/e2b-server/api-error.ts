/** What a caller of the control API or of `/files` is told: the SDK reads the code in the body, too. */
export class ApiError extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export function notFound(what: string): ApiError {
  return new ApiError(404, `${what} not found`)
}
