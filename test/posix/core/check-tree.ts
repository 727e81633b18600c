import { strict as assert } from 'node:assert'
import type { Content, Inode, Link, View } from '@cairn/core'
import { type Ino, rootIno } from '@cairn/protocol'

/** Walks everything that has a name and checks what the tree promises about itself. Gives the number of inodes. */
export function checkTree(view: View): number {
  const names = new Map<Ino, Link[]>()
  const directories = [rootIno]
  for (const parent of directories) {
    const directory = view.inode(parent)
    assert(directory?.kind === 'directory', `${parent} is a directory`)
    const entries = view.entries(parent, undefined, directory.size + 1)
    const subdirectories = entries.filter(({ kind }) => kind === 'directory')
    assert.equal(directory.size, entries.length, `entries of ${parent}`)
    assert.equal(directory.nlink, 2 + subdirectories.length, `links of ${parent}`)
    for (const { name, ino, kind } of entries) {
      assert.equal(view.inode(ino)?.kind, kind, `kind of ${ino}`)
      names.set(ino, [...(names.get(ino) ?? []), { parent, name }])
    }
    directories.push(...subdirectories.map(({ ino }) => ino))
  }
  for (const [ino, links] of names) checkInode(view, ino, view.inode(ino)!, links)
  return 1 + names.size
}

function checkInode(view: View, ino: Ino, inode: Inode, links: readonly Link[]): void {
  const [only, ...others] = links
  assert.deepEqual(inode.home, others.length === 0 ? only : undefined, `home of ${ino}`)
  assert.deepEqual(sorted(view.links(ino)), others.length === 0 ? [] : sorted(links), `${ino}`)
  if (inode.kind !== 'directory') assert.equal(inode.nlink, links.length, `links of ${ino}`)
  assert.equal(inode.content !== undefined, inode.kind === 'file', `content of ${ino}`)
  if (inode.content) checkContent(inode.content, inode.size)
}

function checkContent({ extents, foldedEnd }: Content, size: number): void {
  assert(foldedEnd <= size, 'no folded block counts beyond the end')
  let end = 0
  for (let i = 0; i < extents.length; i++) {
    const { offset, length } = extents.at(i)
    assert(offset >= end && length > 0, 'extents are sorted, apart and not empty')
    end = offset + length
  }
  assert(end <= size, 'no extent lies beyond the end')
}

function sorted(links: readonly Link[]): readonly Link[] {
  return links.toSorted((a, b) => a.parent - b.parent || (a.name < b.name ? -1 : 1))
}
