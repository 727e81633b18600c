import { type IgnoreRules, requireFewRules, type Verdict } from './rules.ts'

/** The ignore files of one directory. */
export interface OwnRules {
  readonly rgignore?: IgnoreRules | undefined
  readonly ignore?: IgnoreRules | undefined
  readonly gitignore?: IgnoreRules | undefined
  /** `.git/info/exclude`. */
  readonly exclude?: IgnoreRules | undefined
  /** A repository begins here. */
  readonly hasGit: boolean
}

/** A directory on the way from the root, with its rules. */
export class IgnoreLevel {
  /** This directory and those above that say something, the nearest first. */
  readonly #chain: readonly { readonly own: OwnRules; readonly depth: number }[]
  readonly #depth: number
  /** There is a repository here or above. Without one, .gitignore means nothing, as for git. */
  readonly #isInGit: boolean
  readonly #hasRules: boolean
  /** Here and above. */
  readonly #count: number

  constructor(own: OwnRules, parent?: IgnoreLevel) {
    this.#depth = parent ? parent.#depth + 1 : 0
    this.#isInGit = own.hasGit || (parent ? parent.#isInGit : false)
    const { rgignore, ignore, gitignore, exclude, hasGit } = own
    const files = [rgignore, ignore, gitignore, exclude]
    const hasOwn = files.some((rules) => rules !== undefined)
    const above = parent ? parent.#chain : []
    this.#count = files.reduce(
      (sum, rules) => sum + (rules?.count ?? 0),
      parent ? parent.#count : 0,
    )
    requireFewRules(this.#count)
    this.#chain = hasOwn || hasGit ? [{ own, depth: this.#depth }, ...above] : above
    this.#hasRules = hasOwn || (parent ? parent.#hasRules : false)
  }

  /** `names` is the whole path of an entry of this directory. For each kind of file the nearest rule decides. */
  ask(names: readonly string[], isDirectory: boolean): Verdict {
    if (!this.#hasRules) return undefined
    const found: { [Kind in 'rgignore' | 'ignore' | 'gitignore' | 'exclude']?: Verdict } = {}
    let isAboveGit = false
    for (const { own, depth } of this.#chain) {
      const path = names.slice(depth).join('/')
      found.rgignore ??= own.rgignore?.ask(path, isDirectory)
      found.ignore ??= own.ignore?.ask(path, isDirectory)
      if (this.#isInGit && !isAboveGit) {
        found.gitignore ??= own.gitignore?.ask(path, isDirectory)
        found.exclude ??= own.exclude?.ask(path, isDirectory)
      }
      isAboveGit ||= own.hasGit
    }
    return found.rgignore ?? found.ignore ?? found.gitignore ?? found.exclude
  }
}
