import { equalBytes, type Ino, type Name, rootIno } from '@cairn/protocol'
import { type BlockRef, blockBytes, blockLength } from '../content/block.ts'
import type { Dentry, Inode, Kind, Link } from '../filesystem/inode.ts'
import { parseKey } from '../filesystem/keys.ts'
import type { Snapshot } from '../ports/records.ts'
import { totalsOf } from '../filesystem/totals.ts'
import {
  decodeBlock,
  decodeDentry,
  decodeInode,
  encodeBlock,
  encodeDentry,
  encodeInode,
} from '../filesystem/values.ts'
import type { Nodes } from '../tree/nodes.ts'
import { scan } from '../tree/scan.ts'

/** Something that no operation, fold or merge may leave behind. */
export interface TreeProblem {
  readonly ino: Ino
  readonly problem: string
}

/**
 * Reads every key of a snapshot once and checks what they say of each other: names and inodes agree both ways,
 * counts are right, every directory leads to the root, no key is left of what is gone. Costs the size of the
 * tree, in memory about a hundred bytes for each inode.
 */
export async function checkTree(nodes: Nodes, snapshot: Snapshot): Promise<readonly TreeProblem[]> {
  const named = new TreeCheck()
  for await (const { key, value } of scan(nodes, snapshot.root)) named.take(key, value)
  const nameless = new TreeCheck()
  for await (const { key, value } of scan(nodes, snapshot.orphans)) nameless.take(key, value)
  named.checkNamed()
  named.checkTotals(await nodes.read(() => totalsOf(nodes, snapshot)))
  nameless.checkNameless(named)
  return [...named.problems, ...nameless.problems]
}

/** What of an inode the other keys must agree with. */
interface Facts extends Pick<Inode, 'kind' | 'nlink' | 'size' | 'home'> {
  readonly allocated: number
  blockBytes: number
  /** Set for a directory. */
  entries: number
  subdirectories: number
  names: number
}

class TreeCheck {
  readonly problems: TreeProblem[] = []
  readonly #inodes = new Map<Ino, Facts>()
  /** The names of whatever has no home, to be compared with its link keys. */
  readonly #names = new Map<Ino, Set<string>>()
  readonly #links = new Map<Ino, Set<string>>()
  readonly #rooted = new Set<Ino>([rootIno])

  /** Inodes come before names, names before links, links before blocks: that is the order of their keys. */
  take(key: Uint8Array, value: Uint8Array): void {
    const parsed = parseKey(key)
    switch (parsed.type) {
      case 'inode':
        return this.#takeInode(parsed.ino, value)
      case 'dentry':
        return this.#takeDentry(parsed, value)
      case 'link':
        return this.#takeLink(parsed.ino, parsed.link, value)
      case 'block':
        return this.#takeBlock(parsed.ino, parsed.index, value)
    }
  }

  checkNamed(): void {
    if (!this.#inodes.has(rootIno)) this.#report(rootIno, 'there is no root')
    for (const [ino, facts] of this.#inodes) {
      this.#checkNames(ino, facts)
      this.#checkContent(ino, facts)
      if (facts.kind === 'directory') this.#checkDirectory(ino, facts)
    }
  }

  checkTotals({ inodes, bytes }: { readonly inodes: number; readonly bytes: number }): void {
    let sum = 0
    for (const { allocated } of this.#inodes.values()) sum += allocated
    if (inodes !== this.#inodes.size) this.#report(rootIno, `the tree counts ${inodes} inodes`)
    if (bytes !== sum) this.#report(rootIno, `the tree sums up ${bytes} bytes, not ${sum}`)
  }

  checkNameless(named: TreeCheck): void {
    for (const [ino, facts] of this.#inodes) {
      if (facts.nlink !== 0 || facts.home) this.#report(ino, 'has a name among the nameless')
      if (named.#inodes.has(ino)) this.#report(ino, 'is both in the tree and nameless')
      this.#checkContent(ino, facts)
    }
  }

  #takeInode(ino: Ino, value: Uint8Array): void {
    const inode = decodeInode(value)
    if (!equalBytes(encodeInode(inode), value)) this.#report(ino, 'is not spelled canonically')
    const { kind, nlink, size, home, content } = inode
    const counts = { entries: 0, subdirectories: 0, names: 0 }
    const allocated = content?.allocated ?? 0
    const blockBytes = blockLength(content?.first)
    this.#inodes.set(ino, { kind, nlink, size, home, allocated, blockBytes, ...counts })
  }

  #takeDentry(link: Link, value: Uint8Array): void {
    const dentry = decodeDentry(value)
    if (!equalBytes(encodeDentry(dentry), value))
      this.#report(link.parent, `'${link.name}' is not spelled canonically`)
    this.#countEntry(link, dentry.kind)
    const facts = this.#inodes.get(dentry.ino)
    if (!facts) return this.#report(dentry.ino, `has the name ${format(link)}, but no inode`)
    this.#checkName(link, dentry, facts)
    facts.names++
    if (!facts.home) addTo(this.#names, dentry.ino, format(link))
  }

  #countEntry({ parent, name }: Link, kind: Kind): void {
    const directory = this.#inodes.get(parent)
    if (directory?.kind !== 'directory')
      return this.#report(parent, `holds '${name}', but is no directory`)
    directory.entries++
    if (kind === 'directory') directory.subdirectories++
  }

  #checkName(link: Link, { ino, kind }: Dentry, facts: Facts): void {
    if (facts.kind !== kind) this.#report(ino, `is a ${facts.kind}, by name a ${kind}`)
    if (facts.home && format(facts.home) !== format(link))
      this.#report(ino, `is at ${format(link)}, and says ${format(facts.home)}`)
  }

  #takeLink(ino: Ino, link: Link, value: Uint8Array): void {
    if (value.length > 0) this.#report(ino, `its link ${format(link)} has a value`)
    addTo(this.#links, ino, format(link))
    if (!this.#inodes.has(ino)) this.#report(ino, 'has a link, but no inode')
  }

  #takeBlock(ino: Ino, index: number, value: Uint8Array): void {
    const block = decodeBlock(value)
    if (!equalBytes(encodeBlock(block), value))
      this.#report(ino, `block ${index} is not spelled canonically`)
    const facts = this.#inodes.get(ino)
    if (facts?.kind !== 'file') return this.#report(ino, `has block ${index}, but is no file`)
    facts.blockBytes += blockLength(block)
    if (!fits(block, index, facts.size)) this.#report(ino, `block ${index} lies behind its end`)
  }

  #checkNames(ino: Ino, facts: Facts): void {
    const links = this.#links.get(ino) ?? new Set()
    const names = this.#names.get(ino) ?? new Set()
    if (ino === rootIno) {
      if (facts.names > 0 || facts.home || links.size > 0) this.#report(ino, 'the root has a name')
      return
    }
    if (facts.names === 0) this.#report(ino, 'has no name')
    if (facts.kind === 'directory' ? facts.names > 1 : facts.names !== facts.nlink)
      this.#report(ino, `has ${facts.names} names and counts ${facts.nlink}`)
    if ((facts.names === 1) !== (facts.home !== undefined))
      this.#report(ino, `has ${facts.names} names and ${facts.home ? 'a' : 'no'} home`)
    const wanted = facts.names > 1 ? names : new Set<string>()
    if (!sameSet(links, wanted))
      this.#report(ino, `has names ${[...wanted].join(' ')} and links ${[...links].join(' ')}`)
  }

  #checkContent(ino: Ino, { allocated, blockBytes }: Facts): void {
    if (allocated !== blockBytes)
      this.#report(ino, `has ${blockBytes} bytes in blocks and counts ${allocated}`)
  }

  #checkDirectory(ino: Ino, { entries, subdirectories, size, nlink }: Facts): void {
    if (size !== entries) this.#report(ino, `has ${entries} entries and counts ${size}`)
    if (nlink !== 2 + subdirectories)
      this.#report(ino, `has ${subdirectories} subdirectories and counts ${nlink} links`)
    if (!this.#leadsToRoot(ino)) this.#report(ino, 'cannot be reached from the root')
  }

  #leadsToRoot(ino: Ino): boolean {
    const way = new Set<Ino>()
    for (let at: Ino | undefined = ino; at !== undefined && !way.has(at);) {
      if (this.#rooted.has(at)) {
        for (const passed of way) this.#rooted.add(passed)
        return true
      }
      way.add(at)
      at = this.#inodes.get(at)?.home?.parent
    }
    return false
  }

  #report(ino: Ino, problem: string): void {
    this.problems.push({ ino, problem })
  }
}

function fits(block: BlockRef, index: number, size: number): boolean {
  return index * blockBytes + blockLength(block) <= size
}

function format({ parent, name }: { readonly parent: Ino; readonly name: Name }): string {
  return `${parent}/${name}`
}

function addTo(sets: Map<Ino, Set<string>>, ino: Ino, value: string): void {
  const set = sets.get(ino)
  if (set) set.add(value)
  else sets.set(ino, new Set([value]))
}

function sameSet(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((value) => b.has(value))
}
