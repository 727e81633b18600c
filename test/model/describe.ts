import { hash } from 'node:crypto'
import {
  blockBytes,
  type Inode,
  type Link,
  type NamedDentry,
  readFile,
  type Stores,
  type Time,
  type View,
} from '@cairn/core'
import type { Ino, Name } from '@cairn/protocol'
import type { ModelInode } from './model-inode.ts'
import type { Model } from './model.ts'

/**
 * A whole tree as lines of text, one for each inode and for each name: two trees are equal when their lines are.
 * Inodes without a name are among them, and every number that leads nowhere.
 */
export type Lines = readonly string[]

/** Describes what the numbers `inos` lead to. */
export function describeModel(model: Model, inos: readonly Ino[]): Lines {
  const names = model.names()
  return inos.flatMap((ino) => {
    const inode = model.inodes.get(ino)
    if (!inode) return [`${ino} is gone`]
    const links = names.get(inode)!.map((link) => ({ ...link, parent: link.directory.ino }))
    const contents = readRanges(inode).map(({ start, end }) => inode.bytes.read(start, end))
    const line = inodeLine(
      ino,
      { ...inode, ...countsOf(model, inode, links.length) },
      links,
      contents,
    )
    const entries = [...inode.children].sort(([a], [b]) => (a < b ? -1 : 1))
    return [
      line,
      ...entries.map(([name, { ino: child, kind }]) => entryLine(ino, { name, ino: child, kind })),
    ]
  })
}

function countsOf(model: Model, inode: ModelInode, links: number): { size: number; nlink: number } {
  const { kind, children, length, target } = inode
  if (kind !== 'directory') return { size: target?.length ?? length, nlink: links }
  const subdirectories = [...children.values()].filter((child) => child.kind === 'directory').length
  const isNamed = links > 0 || inode === model.root
  return { size: children.size, nlink: isNamed ? 2 + subdirectories : 0 }
}

interface Range {
  readonly start: number
  readonly end: number
}

/**
 * What to look at of a file: all of it; of a wide one what surrounds its data, the borders of blocks, and its end.
 * Anything elsewhere would show in the totals.
 */
function readRanges({ bytes, length }: ModelInode): readonly Range[] {
  if (length <= 16_384) return [{ start: 0, end: length }]
  const borders = [1, 2, 3, 6].map((index) => ({
    start: index * blockBytes,
    end: index * blockBytes,
  }))
  const margin = 1500
  return [...bytes.ranges(), ...borders, { start: length, end: length }].flatMap((range) => {
    const start = Math.max(0, range.start - margin)
    const end = Math.min(length, range.end + margin)
    return start < end ? [{ start, end }] : []
  })
}

/** `model` is asked only which parts of wide files to look at. */
export async function describeCore(
  { nodes, blobs }: Pick<Stores, 'nodes' | 'blobs'>,
  view: View,
  inos: readonly Ino[],
  model: Model,
): Promise<Lines> {
  const lines: string[] = []
  for (const ino of inos) {
    const inode = await nodes.read(() => view.inode(ino))
    const modelInode = model.inodes.get(ino)
    const contents: Uint8Array[] = []
    if (inode?.kind === 'file' && modelInode)
      for (const { start, end } of readRanges(modelInode))
        contents.push(await readFile(nodes, blobs, view, ino, inode, start, end))
    lines.push(...(await nodes.read(() => describeInode(view, ino, inode, contents))))
  }
  return lines
}

function describeInode(
  view: View,
  ino: Ino,
  inode: Inode | undefined,
  contents: readonly Uint8Array[],
): Lines {
  if (!inode) return [`${ino} is gone`]
  const links = inode.home ? [inode.home] : inode.nlink > 1 ? view.links(ino) : []
  const line = inodeLine(ino, inode, links, inode.kind === 'file' ? contents : [new Uint8Array()])
  return [line, ...listEntries(view, ino)]
}

/** In small pages, as readdir does; and each name is also looked up. */
function listEntries(view: View, directory: Ino): Lines {
  const lines: string[] = []
  const limit = 3
  for (let after: Name | undefined; ;) {
    const page = view.entries(directory, after, limit)
    for (const entry of page) {
      const found = view.child(directory, entry.name)
      if (found?.ino !== entry.ino) lines.push(`${directory} lists what it has not: ${entry.name}`)
      lines.push(entryLine(directory, entry))
    }
    if (page.length < limit) return lines
    after = page.at(-1)!.name
  }
}

type Attributes = Pick<Inode, 'kind' | 'mode' | 'uid' | 'gid' | 'size' | 'nlink' | 'rdev'> &
  Pick<Inode, 'atime' | 'mtime' | 'ctime' | 'target' | 'xattrs'>

function inodeLine(
  ino: Ino,
  inode: Attributes,
  links: readonly Link[],
  contents: readonly Uint8Array[],
): string {
  const { kind, mode, uid, gid, size, nlink, rdev, atime, mtime, ctime, target, xattrs } = inode
  const names = links.map(({ parent, name }) => `${parent}/${name}`).sort()
  const attributes = [...(xattrs ?? [])].map(([name, value]) => `${name}=${digest(value)}`).sort()
  return [
    `${ino} ${kind} ${mode.toString(8)} ${uid}:${gid} size ${size} nlink ${nlink} rdev ${rdev}`,
    `atime ${timeText(atime)} mtime ${timeText(mtime)} ctime ${timeText(ctime)}`,
    `names ${names.join(' ')} target ${target ? digest(target) : 'none'}`,
    `xattrs ${attributes.join(' ')} content ${contents.map(digest).join(' ')}`,
  ].join(' | ')
}

function entryLine(directory: Ino, { name, ino, kind }: NamedDentry): string {
  return `${directory}/${name} -> ${ino} ${kind}`
}

function timeText({ sec, nsec }: Time): string {
  return `${sec}.${nsec}`
}

/** Short ones as they are, so that a failure can be read. */
function digest(bytes: Uint8Array): string {
  return bytes.length <= 8
    ? Buffer.from(bytes).toString('hex')
    : `${bytes.length}:${hash('sha256', bytes).slice(0, 16)}`
}
