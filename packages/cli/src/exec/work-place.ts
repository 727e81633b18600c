/** A layer as a directory of this machine. */
export interface WorkPlace {
  readonly kind: 'copy' | 'mount'
  readonly directory: string
  /** Brings every change to the server. */
  finish(): Promise<void>
  /** Removes the directory, whatever has happened. */
  remove(): Promise<void>
}
