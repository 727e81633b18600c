import { lstatSync, readdirSync, readlinkSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import type { ByteString } from '@cairn/protocol'
import { localPath } from '../copy/local-path.ts'
import { entryOf } from '../copy/local-source.ts'
import type { TreeEntry } from '../copy/tree.ts'

export type Tree = ReadonlyMap<ByteString, TreeEntry>

/** Other work of this process goes on after so many directories. */
const directoriesAtOnce = 50

/** All that is in a directory. Without a thread for each call, which would take ten times as long as the call. */
export async function scan(root: string): Promise<Tree> {
  const tree = new Map<ByteString, TreeEntry>()
  const add = (path: ByteString): void => {
    const place = localPath(root, path)
    tree.set(
      path,
      entryOf(path, lstatSync(place), () => readlinkSync(place, 'buffer')),
    )
  }
  add('')
  const directories: ByteString[] = ['']
  for (let seen = 0; seen < directories.length; seen++) {
    if (seen % directoriesAtOnce === 0) await setImmediate()
    const directory = directories[seen]!
    for (const name of readdirSync(localPath(root, directory), 'buffer')) {
      const path = `${directory === '' ? '' : `${directory}/`}${name.toString('latin1')}`
      add(path)
      if (tree.get(path)!.kind === 'directory') directories.push(path)
    }
  }
  return tree
}
