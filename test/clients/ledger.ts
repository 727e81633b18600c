/** It divides a page: longer lines could be torn at the border of one. */
const lineBytes = 32

/** What programs were told is so, and what must therefore be in the end. */
export class Ledger {
  readonly faults: string[] = []
  /** By path: what was appended. */
  readonly #lines = new Map<string, Set<string>>()
  /** By path: the newest version that was acknowledged, and the newest one that was begun. */
  readonly #versions = new Map<string, { acknowledged: number; begun: number }>()
  /** By path: who made the file. */
  readonly #makers = new Map<string, string[]>()
  /** By name: the directory that it was moved to last. */
  readonly #homes = new Map<string, string>()
  /** Trees of layers that were kept, because a mount came back too late. */
  readonly #rescued: ReadonlyMap<string, string>[] = []
  /** Lines, files and names of which the answer was lost. */
  readonly #unsure = new Set<string>()

  fail(what: string): void {
    this.faults.push(what)
  }

  noteLine(path: string, line: string, isSure: boolean): void {
    if (!isSure) return void this.#unsure.add(line)
    const lines = this.#lines.get(path) ?? new Set()
    this.#lines.set(path, lines.add(line))
  }

  begin(path: string): number {
    const { acknowledged, begun } = this.#versionsOf(path)
    this.#versions.set(path, { acknowledged, begun: begun + 1 })
    return begun + 1
  }

  acknowledge(path: string, version: number): void {
    this.#versions.set(path, { ...this.#versionsOf(path), acknowledged: version })
  }

  /** What a reader that begins now must see at least. */
  floorOf(path: string): number {
    return this.#versionsOf(path).acknowledged
  }

  judgeVersion(path: string, text: string, floor: number, who: string): void {
    const version = readVersion(text)
    if (version === undefined || version < floor || version > this.#versionsOf(path).begun)
      this.fail(`${who} reads ${path} as ${JSON.stringify(text)}, and ${floor} was written before`)
  }

  noteMade(path: string, maker: string, isSure: boolean): void {
    if (!isSure) return void this.#unsure.add(path)
    this.#makers.set(path, [...(this.#makers.get(path) ?? []), maker])
  }

  noteMoved(name: string, home: string, isSure: boolean): void {
    if (isSure) this.#homes.set(name, home)
    else this.#unsure.add(name)
  }

  noteRescued(files: ReadonlyMap<string, string>): void {
    this.#rescued.push(files)
  }

  homeOf(name: string): string {
    return this.#homes.get(name)!
  }

  /** `files` are all there are, by path. */
  judge(where: string, files: ReadonlyMap<string, string>): void {
    const before = this.faults.length
    for (const path of this.#lines.keys()) this.#judgeLog(path, files.get(path) ?? '')
    for (const [path, { acknowledged }] of this.#versions) {
      const isRescued = this.#isRescued(path, (text) => (readVersion(text) ?? 0) >= acknowledged)
      const floor = isRescued ? 0 : acknowledged
      this.judgeVersion(path, files.get(path) ?? '', floor, 'the end')
    }
    for (const [path, makers] of this.#makers) this.#judgeMakers(path, makers, files.get(path))
    for (const [name, home] of this.#homes) this.#judgeHome(name, home, files)
    const balls = [...files.keys()].filter((path) => path.includes('/ball'))
    if (balls.length !== 1) this.fail(`the ball is ${balls.join(' and ') || 'gone'}`)
    for (let at = before; at < this.faults.length; at++)
      this.faults[at] = `${where}: ${this.faults[at]}`
  }

  #versionsOf(path: string): { readonly acknowledged: number; readonly begun: number } {
    return this.#versions.get(path) ?? { acknowledged: 0, begun: 0 }
  }

  #isRescued(path: string, isMeant: (text: string) => boolean): boolean {
    return this.#rescued.some((files) => isMeant(files.get(path) ?? ''))
  }

  #judgeMakers(path: string, makers: readonly string[], text: string | undefined): void {
    const left = makers.filter(
      (maker) => text !== maker && !this.#isRescued(path, (rescued) => rescued === maker),
    )
    if (makers.length > 1 + this.#rescued.length || (left.length > 0 && !this.#unsure.has(path)))
      this.fail(`${path} was made by ${makers.join(' and ')}, and has ${text}`)
  }

  #judgeHome(name: string, home: string, files: ReadonlyMap<string, string>): void {
    const found = [...files.keys()].filter((path) => path.endsWith(`/${name}`))
    const isUnsure = this.#unsure.has(name) || this.#rescued.length > 0
    const isThere = isUnsure || found[0] === `${home}/${name}`
    if (found.length !== 1 || !isThere) this.fail(`${name} is ${found.join()}, not in ${home}`)
  }

  #judgeLog(path: string, text: string): void {
    const expected = this.#lines.get(path)!
    const seen = new Set<string>()
    const last = new Map<string, number>()
    for (const each of text.match(/[^\n]*\n|[^\n]+$/g) ?? []) {
      const line = each.slice(0, -1)
      const [, name = '', number] = /^(\w+) (\d+) \.*$/.exec(line) ?? []
      if (each.length !== lineBytes || number === undefined)
        this.fail(`${path} has ${JSON.stringify(each.slice(0, 100))}`)
      else if (seen.has(line)) this.fail(`${path} has twice ${line}`)
      else if (Number(number) < (last.get(name) ?? 0)) this.fail(`${path} has ${line} too late`)
      else if (!expected.has(line) && !this.#unsure.has(line)) this.fail(`${path} has ${line}`)
      seen.add(line)
      last.set(name, Number(number))
    }
    for (const line of expected)
      if (!seen.has(line) && !this.#isRescued(path, (rescued) => rescued.includes(`${line}\n`)))
        this.fail(`${path} has lost ${line}`)
  }
}

export function makeLine(name: string, number: number): string {
  return `${name} ${number} `.padEnd(lineBytes - 1, '.')
}

/** All are of one length: a file is overwritten in place. */
export function makeVersion(version: number): string {
  return `v${version} `.padEnd(16, '.')
}

function readVersion(text: string): number | undefined {
  const [, version] = /^v(\d+) \.*$/.exec(text) ?? []
  return version === undefined ? undefined : Number(version)
}
