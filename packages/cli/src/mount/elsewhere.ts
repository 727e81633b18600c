import { findOurMount, type MountState } from '@cairn/mount/beside'
import { commandLine } from '../output/shell-words.ts'
import { findOtherNamespaces } from './users.ts'
import type { PendingWork } from './waiting-line.ts'

/**
 * Why an unmount goes on though nothing is on its way: another mount namespace has a copy of the mount, and the kernel
 * keeps the file system for it. Such a namespace may live for hours.
 */
export class Elsewhere {
  readonly #mountPoint: string
  readonly #connection: number | undefined
  last: string | undefined

  /** While it is mounted here. */
  constructor({ mountPoint }: Pick<MountState, 'mountPoint'>) {
    this.#mountPoint = mountPoint
    this.#connection = findOurMount(mountPoint)?.connection
  }

  describe({ pendingOps }: PendingWork): string | undefined {
    this.last = undefined
    if (this.#connection === undefined || pendingOps > 0 || findOurMount(this.#mountPoint))
      return undefined
    const programs = findOtherNamespaces(this.#connection)
    if (programs.length > 0)
      this.last =
        `it is unmounted here, and everything is at the server; other mount namespaces still have it: ` +
        `${programs.join(', ')}. End these programs, or run: ` +
        commandLine`cairn umount --force ${this.#mountPoint}`
    return this.last
  }
}
