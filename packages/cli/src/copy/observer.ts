import type { ImportReceipt } from '@cairn/sdk'
import type { Cli } from '../cli.ts'
import { cliError } from '../errors.ts'
import { describeError } from '../describe-error.ts'
import { ProgressBar } from '../output/progress.ts'
import type { CopyObserver, FailedEntry, TreeEntry } from './tree.ts'

export interface CopySummary {
  readonly files: number
  readonly directories: number
  readonly symlinks: number
  readonly bytes: number
}

/** Counts, shows how far it is, and tells what could not be copied. */
export class CopyProgress implements CopyObserver {
  readonly bar: ProgressBar
  readonly #cli: Cli
  readonly #counts = { files: 0, directories: 0, symlinks: 0, bytes: 0 }
  #failures = 0

  constructor(cli: Cli) {
    this.#cli = cli
    this.bar = new ProgressBar(cli)
  }

  get summary(): CopySummary {
    return this.#counts
  }

  /** What one request sent as a whole. */
  imported({ files, directories, symlinks, bytes }: ImportReceipt): void {
    Object.assign(this.#counts, { files, directories, symlinks, bytes })
  }

  found({ kind, size }: TreeEntry): void {
    if (kind === 'file') this.bar.expect(size)
  }

  foundAll(): void {
    this.bar.expectNoMore()
  }

  moved(bytes: number): void {
    this.#counts.bytes += bytes
    this.bar.add(bytes)
  }

  finished({ kind }: TreeEntry): void {
    if (kind === 'directory') this.#counts.directories++
    else if (kind === 'symlink') this.#counts.symlinks++
    else this.#counts.files++
    this.bar.addFile()
  }

  async failed({ error }: FailedEntry): Promise<void> {
    this.#failures++
    await this.bar.clear()
    const { text, json } = describeError(error)
    if (this.#cli.isJson) await this.#cli.err.json({ warning: json })
    else await this.#cli.err.line(`cairn fs cp: ${text}`)
  }

  /** Throws when something could not be copied. */
  async end(): Promise<void> {
    await this.bar.clear()
    if (this.#failures === 0) return
    const reason = `${this.#failures === 1 ? '1 entry' : `${this.#failures} entries`} could not be copied`
    const hint =
      'The lines above say why. Fix that, then run the same command again: the rest is there.'
    throw cliError('incomplete_copy', 'copy everything', reason, hint)
  }
}
