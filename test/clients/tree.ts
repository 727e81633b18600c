import type { Files } from '../races/model.ts'

interface Inode {
  readonly isDirectory: boolean
  readonly text: string
}

/** The files of one branch: names, and what they are names of. A file without a name lives on for those who hold it. */
export class Tree {
  readonly #names: Map<string, number>
  readonly #inodes: Map<number, Inode>
  #next: number

  constructor(names?: Map<string, number>, inodes?: Map<number, Inode>, next = 1) {
    this.#names = names ?? new Map<string, number>()
    this.#inodes = inodes ?? new Map<number, Inode>()
    this.#next = next
  }

  copy(): Tree {
    return new Tree(new Map(this.#names), new Map(this.#inodes), this.#next)
  }

  find(path: string): number | undefined {
    return this.#names.get(path)
  }

  /** The text of a file, whether or not it has a name. */
  text(ino: number): string {
    return this.#inodes.get(ino)!.text
  }

  setText(ino: number, text: string): void {
    this.#inodes.set(ino, { isDirectory: false, text })
  }

  /** Undefined where it cannot be. */
  create(path: string, isDirectory = false): number | undefined {
    if (this.#names.has(path) || !this.#hasPlace(path)) return undefined
    const ino = this.#next++
    this.#names.set(path, ino)
    this.#inodes.set(ino, { isDirectory, text: '' })
    return ino
  }

  /** A file, or a directory without entries. */
  remove(path: string): boolean {
    return this.list(path).length === 0 && this.#names.delete(path)
  }

  link(path: string, other: string): boolean {
    const ino = this.#names.get(path)
    if (ino === undefined || this.#names.has(other) || !this.#hasPlace(other)) return false
    this.#names.set(other, ino)
    return true
  }

  rename(path: string, other: string): boolean {
    const ino = this.#names.get(path)
    if (ino === undefined || !this.#hasPlace(other)) return false
    if (this.#names.get(other) === ino) return true
    if (this.list(other).length > 0) return false
    const moved = [...this.#names].filter(([name]) => name === path || name.startsWith(`${path}/`))
    this.#names.delete(other)
    for (const [name] of moved) this.#names.delete(name)
    for (const [name, each] of moved) this.#names.set(other + name.slice(path.length), each)
    return true
  }

  list(directory: string): readonly string[] {
    const start = `${directory}/`
    return [...this.#names.keys()]
      .filter((name) => name.startsWith(start) && !name.slice(start.length).includes('/'))
      .map((name) => name.slice(start.length))
      .sort()
  }

  /** What layers are merged by: paths and texts. */
  files(): Files {
    const files = new Map<string, string>()
    for (const path of [...this.#names.keys()].sort())
      if (path.startsWith('repo/')) files.set(path, this.text(this.#names.get(path)!))
    return files
  }

  /** As a merge or a rollback puts them there. `asOthers`: what it changed is another file of the same name. */
  setFiles(files: Files, asOthers: boolean): void {
    const before = this.files()
    for (const path of before.keys()) if (!files.has(path)) this.#names.delete(path)
    for (const [path, text] of files) {
      if (before.get(path) === text) continue
      if (asOthers) this.#names.delete(path)
      this.setText(this.find(path) ?? this.create(path)!, text)
    }
  }

  /** Equal for equal trees, as far as `holders` and those who have a name can tell. */
  describe(holders: readonly number[]): string {
    const names = [...this.#names].sort(([a], [b]) => (a < b ? -1 : 1))
    const seen = new Map<number, string>()
    const lines = names.map(([path, ino]) => {
      const first = seen.get(ino)
      seen.set(ino, first ?? path)
      return `${path}=${first ?? this.#inodes.get(ino)!.text}`
    })
    const held = holders.map((ino) => seen.get(ino) ?? `nameless=${this.text(ino)}`)
    return [...lines, ...held].join('\n')
  }

  #hasPlace(path: string): boolean {
    const parent = path.slice(0, path.lastIndexOf('/'))
    return parent === 'repo' || parent === 'box' || this.#names.has(parent)
  }
}
