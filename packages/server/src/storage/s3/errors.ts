import { CairnError } from '@cairn/protocol'

/** S3's name for an error, such as NoSuchKey; Node's code where no answer came. */
export function errorName(error: unknown): string {
  if (!(error instanceof Error)) return ''
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}

export function httpStatus(error: unknown): number | undefined {
  const metadata = error instanceof Error && '$metadata' in error ? error.$metadata : undefined
  return (metadata as { httpStatusCode?: number } | undefined)?.httpStatusCode
}

/** That key was put before. */
export function isTaken(error: unknown): boolean {
  return httpStatus(error) === 412
}

export function isMissing(error: unknown): boolean {
  // NoSuchBucket has the status of NoSuchKey, and must not read as an absent object.
  return httpStatus(error) === 404 && errorName(error) !== 'NoSuchBucket'
}

export function isPastEnd(error: unknown): boolean {
  return httpStatus(error) === 416
}

export function s3Error(place: string, verb: string, error: unknown): CairnError {
  const name = errorName(error)
  const full = name === 'QuotaExceeded' || httpStatus(error) === 507
  const words = error instanceof Error && error.message ? `: ${error.message}` : ''
  return new CairnError(full ? 'storage_full' : 'storage_unavailable', {
    what: `${verb} ${place}`,
    reason: `${name}${words}`,
    subject: place,
    cause: error,
  })
}
