import { type CairnError, FsError, isCairnError } from '@cairn/protocol'

/**
 * Whether the server has ended this session's access: a key or token that was revoked, or whose time is over. Then
 * nobody waits for it any more; what was acknowledged before stays in the spool, and goes on should access come back.
 */
export class Refusal {
  #why: CairnError | undefined
  readonly #waiting = new Set<(error: Error) => void>()

  get why(): CairnError | undefined {
    return this.#why
  }

  begin(why: CairnError): void {
    this.#why = why
    for (const reject of this.#waiting) reject(new FsError('EACCES'))
    this.#waiting.clear()
  }

  end(): void {
    this.#why = undefined
  }

  /** Throws EACCES while it lasts. */
  require(): void {
    if (this.#why) throw new FsError('EACCES')
  }

  /** What the server is to answer: EACCES if it never will, or says that the token does not allow it. */
  unlessRefused<T>(answer: Promise<T>): Promise<T> {
    if (this.#why) {
      answer.catch(() => undefined)
      return Promise.reject(new FsError('EACCES'))
    }
    return new Promise((resolve, reject) => {
      this.#waiting.add(reject)
      void answer
        .then(resolve, (error: unknown) => reject(errnoOf(error)))
        .finally(() => this.#waiting.delete(reject))
    })
  }
}

function errnoOf(error: unknown): unknown {
  return isCairnError(error, 'forbidden') ? new FsError('EACCES') : error
}
