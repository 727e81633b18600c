import { concatBytes, type Name, toHex } from '@cairn/protocol'
import type { Blobs } from '../content/blobs.ts'
import { readFile } from '../filesystem/read-file.ts'
import type { Link } from '../filesystem/inode.ts'
import { dentryKey } from '../filesystem/keys.ts'
import { textMergeBytesMax } from '../text/lines.ts'
import { mergeText } from '../text/text-merge.ts'
import type { Nodes } from '../tree/nodes.ts'
import { type Conflict, type ConflictSide, subjectOf } from './conflict.ts'
import { fingerprint } from './fingerprint.ts'
import type { Changed } from './objects.ts'
import type { Decisions, MergeQuestion } from './question.ts'
import type { Choice, Resolution } from '../ports/records.ts'
import type { Side } from './sides.ts'
import type { SideName, ThreeSides } from './touched.ts'
import { hasLink, type Version } from './version.ts'

export interface DecisionOptions {
  readonly nodes: Nodes
  readonly blobs: Blobs
  readonly resolutions?: readonly Resolution[]
  /** Merge files that both sides edited line by line, where the lines allow it. */
  readonly mergeText?: boolean
}

/** Answers from the decisions made so far, and collects the undecided conflicts. */
export class ConflictBook implements Decisions {
  readonly sides: ThreeSides
  readonly #options: DecisionOptions
  /** By what they are about; of several, the last. */
  readonly #resolutions: ReadonlyMap<string, Resolution>
  readonly #open = new Map<string, MergeQuestion>()
  /** What was asked about a deletion, by what was deleted. */
  readonly #deletions = new Map<Changed, string>()

  constructor(options: DecisionOptions, sides: ThreeSides) {
    this.sides = sides
    this.#options = options
    this.#resolutions = new Map(
      options.resolutions?.map((each) => [subjectOf(each.conflict), each]),
    )
  }

  async choose(question: MergeQuestion): Promise<Choice | undefined> {
    const id = await this.#id(question)
    const choice = this.#choiceFor(id)
    const accepts = question.accepts ?? (({ type }) => type !== 'bytes')
    if (choice && accepts(choice)) return choice
    this.#open.set(id, question)
    if (question.kind.endsWith('/delete')) this.#deletions.set(question.object, id)
    return undefined
  }

  async chooseSide(question: Omit<MergeQuestion, 'accepts'>): Promise<SideName | undefined> {
    const choice = await this.choose(question)
    return choice?.type === 'bytes' ? undefined : choice?.type
  }

  withdraw(object: Changed): void {
    const id = this.#deletions.get(object)
    if (id !== undefined) this.#open.delete(id)
  }

  async mergeText({ base, layer, target }: Changed): Promise<Uint8Array | undefined> {
    const versions = [base, layer, target]
    if (!this.#options.mergeText || !versions.every(isShortFile)) return undefined
    const { sides } = this
    const { pacer } = this.#options.nodes
    const merged = await (pacer.mergeText ?? mergeText)(
      await this.#read(sides.base, base!),
      await this.#read(sides.layer, layer!),
      await this.#read(sides.target, target!),
    )
    return merged.kind === 'merged' ? merged.bytes : undefined
  }

  /** By path; of one path, by kind. */
  async list(): Promise<readonly Conflict[]> {
    const conflicts: Conflict[] = []
    for (const [id, question] of this.#open) conflicts.push(await this.#describe(id, question))
    return conflicts.sort(
      (a, b) => compare(a.path.join('/'), b.path.join('/')) || compare(a.kind, b.kind),
    )
  }

  async #describe(id: string, question: MergeQuestion): Promise<Conflict> {
    const { kind, link } = question
    const versions = versionsOf(question)
    const base = await describeSide(this.sides.base, versions.base, link)
    const layer = await describeSide(this.sides.layer, versions.layer, link)
    const target = await describeSide(this.sides.target, versions.target, link)
    const described = { base, layer, target }
    const shown = sideNames.find((side) => link && hasLink(versions[side]?.links, link))
    const path = (shown ? described[shown] : (layer ?? target ?? base))!.path
    return { id, kind, path, base, layer, target }
  }

  #choiceFor(id: string): Choice | undefined {
    const resolution = this.#resolutions.get(subjectOf(id))
    if (resolution?.choice.type === 'layer' || resolution?.conflict === id) return resolution.choice
    return undefined
  }

  /**
   * Another target or layer is another conflict: a decision covers only the versions that were
   * shown.
   */
  async #id({ kind, object, other, link, stakes }: MergeQuestion): Promise<string> {
    const names = [object, ...(other ? [other] : [])].map((each) => each.id)
    const place = link ? [dentryKey(link.parent, link.name)] : []
    const target = await this.#digest('target', stakes?.target ?? [(other ?? object).target], place)
    const layer = await this.#digest('layer', stakes?.layer ?? [object.layer])
    return [kind, ...names, target, layer].join(':')
  }

  async #digest(
    side: SideName,
    stakes: readonly (Version | undefined)[],
    parts: Uint8Array[] = [],
  ): Promise<string> {
    for (const stake of stakes) if (stake) parts.push(await fingerprint(this.sides[side], stake))
    return toHex(this.#options.nodes.hash(concatBytes(parts))).slice(0, 16)
  }

  #read(side: Side, { ino, inode }: Version): Promise<Uint8Array> {
    return readFile(this.#options.nodes, this.#options.blobs, side.view, ino, inode)
  }
}

const sideNames = ['layer', 'target', 'base'] as const

/** Asked before they are read: a file may be larger than memory. */
function isShortFile(version: Version | undefined): boolean {
  return version?.inode.kind === 'file' && version.inode.size <= textMergeBytesMax
}

/** What each side has there: of two things in each other's way, who has which. */
function versionsOf({ object, other, link }: MergeQuestion): Pick<Changed, 'base' | SideName> {
  if (!other) return object
  const { layer } = object
  const { target } = other
  if (!link) return { base: object.base, layer, target }
  const base = [object.base, other.base].find((version) => hasLink(version?.links, link))
  return { base, layer, target }
}

async function describeSide(
  side: Side,
  version: Version | undefined,
  link: Link | undefined,
): Promise<ConflictSide | undefined> {
  if (!version) return undefined
  const asked = version.links.findIndex((other) => link && hasLink([link], other))
  const name = version.names[Math.max(0, asked)]
  const path: readonly Name[] = name ? await side.path(name) : []
  return { ino: version.ino, kind: version.inode.kind, path }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
