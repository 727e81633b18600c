import { CairnError, errorTable, FsError, isCairnError } from '@cairn/protocol'

/**
 * Whether the server accepts nothing more from this session: its key or token was revoked or has
 * expired, or an acknowledged write is refused for good. Then no caller waits for the server any
 * more. Earlier acknowledged writes stay in the spool, and are sent should access come back.
 */
export class Refusal {
  #why: CairnError | undefined
  readonly #waiting = new Set<(error: Error) => void>()

  get why(): CairnError | undefined {
    return this.#why
  }

  begin(why: CairnError): void {
    this.#why = why
    for (const reject of this.#waiting) reject(errnoOf(why))
    this.#waiting.clear()
  }

  end(): void {
    this.#why = undefined
  }

  /** Throws EACCES or EIO while it lasts. */
  require(): void {
    if (this.#why) throw errnoOf(this.#why)
  }

  /** What the server is to answer: EACCES or EIO if it never will, or says that the token does not allow it. */
  unlessRefused<T>(answer: Promise<T>): Promise<T> {
    if (this.#why) {
      answer.catch(() => undefined)
      return Promise.reject(errnoOf(this.#why))
    }
    return new Promise((resolve, reject) => {
      this.#waiting.add(reject)
      void answer
        .then(resolve, (error: unknown) =>
          reject(isCairnError(error, 'forbidden') ? errnoOf(error) : error),
        )
        .finally(() => this.#waiting.delete(reject))
    })
  }
}

/** A missing permission is reported as such; any other refusal should not have happened. */
function errnoOf({ code }: CairnError): FsError {
  return new FsError(errorTable[code].errno === 'EACCES' ? 'EACCES' : 'EIO')
}

/** The error for an acknowledged write that is refused everywhere. */
export function whyRefused(error: unknown): CairnError {
  if (isCairnError(error)) return error
  const reason = error instanceof Error ? error.message : String(error)
  const what = 'bring acknowledged changes to the server'
  return new CairnError('internal', { what, reason, cause: error })
}
