import {
  type Blobs,
  type Dentry,
  type Inode,
  isBelow,
  joinNames,
  type NamedDentry,
  NodeMiss,
  type Nodes,
  readFile,
  type View,
} from '@cairn/core'
import {
  allows,
  type Grant,
  type Ino,
  isWay,
  type Name,
  rootIno,
  toByteString,
} from '@cairn/protocol'
import type { FileFilter } from './ignore/file-filter.ts'
import { IgnoreLevel, type OwnRules } from './ignore/level.ts'
import { IgnoreFileReader, type IgnoreRules } from './ignore/rules.ts'

/** A file that is to be searched. */
export interface TreeFile {
  readonly names: readonly Name[]
  readonly ino: Ino
  readonly inode: Inode
}

/** Where a search begins. */
export interface SearchPlace {
  readonly ino: Ino
  readonly names: readonly Name[]
}

interface TreeParts {
  readonly nodes: Nodes
  readonly blobs: Blobs
  /** As the asker sees it. It does not change. */
  readonly view: View
  /** Absent where everything may be searched. */
  readonly grant?: Grant | undefined
}

interface Level {
  readonly names: readonly Name[]
  readonly ino: Ino
  readonly rules: IgnoreLevel | undefined
  /** The name of the last entry that was read. */
  after: Name | undefined
  /** Read, and not yet given. */
  entries: readonly NamedDentry[]
  next: number
  isOver: boolean
}

const entriesAtOnce = 200

const ignoreFileBytesMax = 1 << 20
const name = (text: string): Name => text as Name

/** The files below a directory that a search is about, in the order of their paths. */
export class TreeFiles {
  readonly #parts: TreeParts
  readonly #filter: FileFilter
  readonly #known = new Map<Ino, IgnoreLevel>()
  readonly #reader: IgnoreFileReader

  constructor(parts: TreeParts, filter: FileFilter) {
    this.#parts = parts
    this.#filter = filter
    this.#reader = new IgnoreFileReader(parts.nodes.pacer)
  }

  /** Those after a path, if one is given. */
  async *walk(top: SearchPlace, after?: readonly Name[]): AsyncGenerator<TreeFile> {
    const { nodes } = this.#parts
    const levels = await this.#levelsTo(top, after?.slice(top.names.length) ?? [])
    for (let level = levels.at(-1); level; level = levels.at(-1)) {
      if (nodes.pacer.isDue()) await nodes.pacer.rest()
      if (level.next === level.entries.length && !level.isOver) await this.#readMore(level)
      const entry = level.entries[level.next++]
      if (!entry) {
        levels.pop()
        continue
      }
      const names = [...level.names, entry.name]
      if (!this.#wants(top.names, names, entry, level.rules)) continue
      if (entry.kind === 'directory') levels.push(await this.#enter(names, entry.ino, level.rules))
      else if (entry.kind === 'file' && this.#isAllowed(names)) {
        const inode = await soon(nodes, () => this.#parts.view.inode(entry.ino))
        if (inode) yield { names, ino: entry.ino, inode }
      }
    }
  }

  /** The file at a path, if a walk from `top` would give it. */
  async find(top: SearchPlace, names: readonly Name[]): Promise<TreeFile | undefined> {
    const { nodes, view } = this.#parts
    if (!isBelow(names, top.names) || !this.#isAllowed(names)) return undefined
    let directory = top.ino
    let rules = await this.#topRules(top)
    for (let depth = top.names.length + 1; ; depth++) {
      const way = names.slice(0, depth)
      const from: Ino = directory
      const child = await soon(nodes, () => view.child(from, way.at(-1)!))
      if (!child || !this.#wants(top.names, way, child, rules)) return undefined
      if (depth === names.length) {
        const inode = await soon(nodes, () => view.inode(child.ino))
        return inode?.kind === 'file' ? { names, ino: child.ino, inode } : undefined
      }
      if (child.kind !== 'directory') return undefined
      directory = child.ino
      rules = await this.#knownRules(way, directory, rules)
    }
  }

  async #topRules({ ino, names }: SearchPlace): Promise<IgnoreLevel | undefined> {
    const above = await this.#rulesAbove(names)
    return this.#knownRules(names, ino, above)
  }

  /** Paths of one directory come one after the other. */
  async #knownRules(
    names: readonly Name[],
    ino: Ino,
    above: IgnoreLevel | undefined,
  ): Promise<IgnoreLevel | undefined> {
    if (!this.#filter.readsIgnoreFiles) return undefined
    const known = this.#known.get(ino)
    if (known) return known
    const rules = new IgnoreLevel(await this.#ownRules(names, ino), above)
    this.#known.set(ino, rules)
    return rules
  }

  #wants(
    top: readonly Name[],
    names: readonly Name[],
    { kind }: Dentry,
    rules: IgnoreLevel | undefined,
  ): boolean {
    return this.#filter.wants(names.slice(top.length), names, kind === 'directory', rules)
  }

  #isAllowed(names: readonly Name[]): boolean {
    const { grant } = this.#parts
    return !grant || allows(grant, 'search', joinNames(names))
  }

  /** As for `ls`: of a directory that is only on the way, the view has nothing but the way. */
  #isListable(names: readonly Name[]): boolean {
    const { grant } = this.#parts
    const path = joinNames(names)
    return !grant || isWay(grant, path) || allows(grant, 'list', path)
  }

  /** A level for each directory on the way to `after` that is still there. */
  async #levelsTo({ ino, names }: SearchPlace, after: readonly Name[]): Promise<Level[]> {
    const { nodes, view } = this.#parts
    const levels = [await this.#enter(names, ino, await this.#rulesAbove(names), after[0])]
    let directory = ino
    for (let depth = 1; depth < after.length; depth++) {
      const child = await soon(nodes, () => view.child(directory, after[depth - 1]!))
      if (child?.kind !== 'directory') break
      directory = child.ino
      const way = [...names, ...after.slice(0, depth)]
      levels.push(await this.#enter(way, directory, levels.at(-1)!.rules, after[depth]))
    }
    return levels
  }

  async #enter(
    names: readonly Name[],
    ino: Ino,
    above: IgnoreLevel | undefined,
    after?: Name,
  ): Promise<Level> {
    const rules = await this.#knownRules(names, ino, above)
    const isOver = !this.#isListable(names)
    return { names, ino, rules, after, entries: [], next: 0, isOver }
  }

  async #readMore(level: Level): Promise<void> {
    const { nodes, view } = this.#parts
    level.entries = await soon(nodes, () => view.entries(level.ino, level.after, entriesAtOnce))
    level.next = 0
    level.after = level.entries.at(-1)?.name
    level.isOver = level.entries.length < entriesAtOnce
  }

  /** Rules of the directories above count as well. */
  async #rulesAbove(names: readonly Name[]): Promise<IgnoreLevel | undefined> {
    if (!this.#filter.readsIgnoreFiles) return undefined
    let rules: IgnoreLevel | undefined
    let ino: Ino | undefined = rootIno
    for (let depth = 0; depth < names.length && ino !== undefined; depth++) {
      const directory: Ino = ino
      rules = await this.#knownRules(names.slice(0, depth), directory, rules)
      ino = (await soon(this.#parts.nodes, () => this.#parts.view.child(directory, names[depth]!)))
        ?.ino
    }
    return rules
  }

  async #ownRules(names: readonly Name[], ino: Ino): Promise<OwnRules> {
    const { nodes, view } = this.#parts
    const [git, rgignore, ignore, gitignore] = await soon(nodes, () =>
      ['.git', '.rgignore', '.ignore', '.gitignore'].map((each) => view.child(ino, name(each))),
    )
    const info =
      git?.kind === 'directory'
        ? await soon(nodes, () => view.child(git.ino, name('info')))
        : undefined
    const exclude = info && (await soon(nodes, () => view.child(info.ino, name('exclude'))))
    return {
      hasGit: git !== undefined,
      rgignore: await this.#readRules([...names, name('.rgignore')], rgignore),
      ignore: await this.#readRules([...names, name('.ignore')], ignore),
      gitignore: await this.#readRules([...names, name('.gitignore')], gitignore),
      exclude: await this.#readRules(
        [...names, name('.git'), name('info'), name('exclude')],
        exclude,
      ),
    }
  }

  /** A file that the asker may not search has no say in what is found. */
  async #readRules(
    names: readonly Name[],
    dentry: Dentry | undefined,
  ): Promise<IgnoreRules | undefined> {
    if (dentry?.kind !== 'file' || !this.#isAllowed(names)) return undefined
    const { nodes, blobs, view } = this.#parts
    const inode = await soon(nodes, () => view.inode(dentry.ino))
    if (!inode || inode.size > ignoreFileBytesMax) return undefined
    return this.#reader.read(toByteString(await readFile(nodes, blobs, view, dentry.ino, inode)))
  }
}

/** Reads at once where all nodes are in memory: a promise for each entry would cost more than the entry. */
export function soon<T>(nodes: Nodes, read: () => T): T | Promise<T> {
  try {
    return read()
  } catch (error) {
    if (error instanceof NodeMiss) return nodes.read(read)
    throw error
  }
}
