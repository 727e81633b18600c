import { compileTypes } from './types.ts'
import type { IgnoreLevel } from './level.ts'
import { GlobFilter } from './rules.ts'

export interface FilterOptions {
  readonly globs: readonly string[]
  readonly types: readonly string[]
  /** How often -u was given: 1 ignores no ignore files, 2 also searches hidden files, 3 also binary ones. */
  readonly unrestricted: number
}

/** Which of the entries that a walk meets are searched, by the rules of ripgrep. */
export class FileFilter {
  readonly #globs: GlobFilter | undefined
  readonly #isOfType: ReturnType<typeof compileTypes>
  readonly #unrestricted: number

  /** Throws a PatternError. */
  constructor({ globs, types, unrestricted }: FilterOptions) {
    this.#globs = globs.length > 0 ? new GlobFilter(globs) : undefined
    this.#isOfType = compileTypes(types)
    this.#unrestricted = unrestricted
  }

  get readsIgnoreFiles(): boolean {
    return this.#unrestricted === 0
  }

  /** `below` is where the entry is below the searched directory, `names` where in the workspace. */
  wants(
    below: readonly string[],
    names: readonly string[],
    isDirectory: boolean,
    level: IgnoreLevel | undefined,
  ): boolean {
    const named = this.#globs?.ask(below.join('/'), isDirectory)
    if (named) return named === 'keep'
    const verdict = level?.ask(names, isDirectory)
    if (verdict === 'ignore') return false
    const isTyped = this.#isOfType !== undefined && !isDirectory
    if (isTyped && !this.#isOfType!(below.at(-1)!)) return false
    const isHidden = names.at(-1)!.startsWith('.')
    return !isHidden || this.#unrestricted >= 2 || verdict === 'keep' || isTyped
  }
}
