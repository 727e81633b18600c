import { readFileSync } from 'node:fs'
import { fromByteString, fromHex, Reader, toByteString, toHex, fileKinds } from '@cairn/protocol'
import { describe, expect, it } from 'vitest'
import { batches, blobWrite, examples, inodes, ops } from '../test/format-examples.ts'
import { fileBytesMax, inlineBytesMax } from './content/block.ts'
import { blobBytesMax } from './content/blobs.ts'
import { parseKey } from './filesystem/keys.ts'
import { fallocateModes, privilegeDrops, renameModes, xattrModes } from './filesystem/op.ts'
import { decodeInode } from './filesystem/values.ts'
import { batchBytesMax, decodeBatch, decodeBody, rootCauses } from './history/batch.ts'
import { branchStates } from './ports/records.ts'
import { readOp } from './history/op-codec.ts'
import { endsNode } from './tree/chunker.ts'
import { keyBytesMax, levelMax, nodeBytesMax } from './tree/layout.ts'

const page = readFileSync(new URL('../../../docs/internals/format.md', import.meta.url), 'utf8')

/** The fenced blocks of hexadecimal, by name; what follows a `#` is for people. */
const shown = new Map(
  [...page.matchAll(/^```hex (\S+)\n([^]*?)^```$/gm)].map(([, name, body]) => [
    name!,
    body!.replaceAll(/#.*$|\s/gm, ''),
  ]),
)

function bytesOf(name: string): Uint8Array {
  return fromByteString(fromHex(shown.get(name)!)!)
}

describe('docs/internals/format.md', () => {
  it('shows every example, each once, and no others', () => {
    expect([...page.matchAll(/^```hex /gm)].length).toBe(shown.size)
    expect(new Set(shown.keys())).toEqual(new Set(Object.keys(examples)))
  })

  it.each(Object.entries(examples))('%s is what the code writes', async (name, make) => {
    expect(shown.get(name)).toBe(toHex(toByteString(await make())))
  })

  it('the examples are read as what they are said to be', () => {
    expect(decodeInode(bytesOf('inode-directory'))).toEqual(inodes.directory)
    expect(decodeInode(bytesOf('inode-file'))).toEqual(inodes.file)
    expect(decodeInode(bytesOf('inode-symlink'))).toEqual(inodes.symlink)
    expect(parseKey(bytesOf('key-link'))).toMatchObject({ type: 'link', ino: 300 })
    for (const [type, batch] of Object.entries(batches))
      expect(decodeBatch(bytesOf(`batch-${type}`))).toEqual(batch)
    expect(decodeBody(bytesOf('submission')).ops).toEqual([ops.unlink, ops.reap])
    const { time } = batches.ops
    for (const [type, op] of Object.entries({ ...ops, 'write-blob': blobWrite }))
      expect(readOp(new Reader(bytesOf(`op-${type}`), 'operation'), time)).toEqual(op)
  })

  it('the sizes from which a key ends a node are right', () => {
    const rows = [...page.matchAll(/^\| `(\S+)`( \(hex\))? \| (\d) \| (\d+) \|$/gm)]
    expect(rows.length).toBe(4)
    for (const [, text, isHex, level, size] of rows) {
      const key = fromByteString(isHex ? fromHex(text!)! : text!)
      const ends = [-1, 0].map((less) => endsNode(key, Number(level), Number(size) + less))
      expect(ends).toEqual([false, true])
    }
  })

  it('lists have the numbers of the code', () => {
    const lists = {
      kinds: fileKinds.map((kind) => (/^(character|block)$/.test(kind) ? `${kind} device` : kind)),
      renameModes,
      fallocateModes,
      xattrModes,
      rootCauses,
      branchStates,
    }
    const line = page.replaceAll(/\s+/g, ' ')
    for (const list of Object.values(lists))
      expect(line).toContain(list.map((each, number) => `${number} ${each}`).join(', '))
    expect(privilegeDrops).toEqual([false, 'member', 'stranger'])
    Object.keys(ops).forEach((type, number) => expect(page).toContain(`| ${number} | ${type} |`))
  })

  it('limits are those of the code', () => {
    const row = (what: string): string => {
      const limits = page.slice(page.indexOf('\n## Limits')).split('\n')
      const found = limits.find((line) => line.startsWith(`| ${what} |`))
      return found?.replaceAll(',', '') ?? `no row for ${what}`
    }
    expect(fileBytesMax).toBe(2 ** 50)
    expect(row('file')).toContain('2^50 bytes')
    expect(row('inline block')).toContain(`${inlineBytesMax} bytes`)
    expect(row('blob')).toContain(`${blobBytesMax} bytes`)
    expect(row('tree key')).toContain(`${keyBytesMax} bytes`)
    expect(row('tree node')).toContain(`${nodeBytesMax >> 20} MiB 65535 entries level ${levelMax}`)
    expect(row('batch')).toContain(`${batchBytesMax >> 20} MiB`)
  })
})
