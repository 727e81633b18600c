import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { type TarEntry, tarPaddingBytes } from './entry.ts'
import { TarReader } from './read-tar.ts'
import { tarEnd, tarHeader } from './write-tar.ts'

const file = { kind: 'file', mode: 0o644, size: 0, mtimeNs: 0n } as const

async function* inChunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

function archiveOf(entries: readonly (readonly [TarEntry, string])[]): Buffer {
  const parts = entries.flatMap(([entry, content]) => [
    tarHeader(entry),
    Buffer.from(content),
    new Uint8Array(tarPaddingBytes(entry.size)),
  ])
  return Buffer.concat([...parts, tarEnd])
}

async function readAll(bytes: Uint8Array, chunk = 1000): Promise<[TarEntry, string][]> {
  const reader = new TarReader(inChunks(bytes, chunk))
  const all: [TarEntry, string][] = []
  for (let entry = await reader.next(); entry; entry = await reader.next())
    all.push([entry, Buffer.from(await reader.content(entry.size)).toString()])
  return all
}

const odd: readonly (readonly [TarEntry, string])[] = [
  [{ ...file, path: 'empty' }, ''],
  [{ ...file, path: 'a'.repeat(100), size: 1, mode: 0o4755 }, 'x'],
  [{ ...file, path: `${'d/'.repeat(150)}long`, size: 512 }, 'y'.repeat(512)],
  [{ ...file, path: 'n\xff\nn', size: 513, mtimeNs: 1_700_000_000_123_456_789n }, 'z'.repeat(513)],
  [{ ...file, path: 'old', mtimeNs: -1_500_000_000n }, ''],
  [{ ...file, path: 'dir/', kind: 'directory', mode: 0o1777 }, ''],
  [{ ...file, path: 'sym', kind: 'symlink', target: 't'.repeat(300) }, ''],
  [{ ...file, path: 'hard', kind: 'link', target: 'empty' }, ''],
]

describe('tar', () => {
  it.each([1, 7, 512, 100_000])('what is written is read again, in chunks of %i', async (chunk) => {
    expect(await readAll(archiveOf(odd), chunk)).toEqual(odd)
  })

  it.each(['gnu', 'pax', 'ustar'])("GNU tar's format %s is read", async (format) => {
    const script =
      'cd $(mktemp -d); mkdir d; printf hello > d/f; ln -s f d/s; ln d/f d/h; chmod 640 d/f; ' +
      'touch -d @1700000000 d/f; ' +
      `n=$(printf 'x%.0s' $(seq 90)); mkdir -p d/$n; printf long > d/$n/$n; tar --format=${format} --sort=name -c d; rm -r d`
    const all = await readAll(execFileSync('bash', ['-c', script]))
    const long = 'x'.repeat(90)
    expect(all.map(([{ path, kind }, content]) => [path, kind, content])).toEqual([
      ['d/', 'directory', ''],
      ['d/f', 'file', 'hello'],
      ['d/h', 'link', ''],
      ['d/s', 'symlink', ''],
      [`d/${long}/`, 'directory', ''],
      [`d/${long}/${long}`, 'file', 'long'],
    ])
    expect(all[1]![0]).toMatchObject({ mode: 0o640, mtimeNs: 1_700_000_000_000_000_000n })
  })

  it('GNU tar lists what is written', () => {
    const list = execFileSync('tar', ['-t', '--quoting-style=escape'], { input: archiveOf(odd) })
    expect(list.toString().split('\n')).toHaveLength(odd.length + 1)
  })

  it.each([
    ['ends in a header', (bytes: Buffer) => bytes.subarray(0, 100), 'middle of a header'],
    ['ends in content', (bytes: Buffer) => bytes.subarray(0, 1200), 'middle of an entry'],
    ['is no archive', () => Buffer.alloc(2048, 'x'), 'is no number'],
    ['has a changed byte', (bytes: Buffer) => bytes.fill(1, 3, 4), 'damaged'],
  ])('one that %s is refused', async (_, damage, why) => {
    const bytes = archiveOf([[{ ...file, path: 'abcdef', size: 1000 }, 'x'.repeat(1000)]])
    await expect(readAll(damage(bytes))).rejects.toThrow(why)
  })

  it('a device is refused by name', async () => {
    const bytes = archiveOf([[{ ...file, path: 'null' }, '']])
    bytes[156] = 0x33
    bytes.write(
      bytes
        .subarray(0, 512)
        .reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 32 : byte), 0)
        .toString(8)
        .padStart(6, '0'),
      148,
    )
    await expect(readAll(bytes)).rejects.toThrow("'null' is neither a file")
  })
})
