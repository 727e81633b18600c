import { createReadStream } from 'node:fs'
import { createGunzip } from 'node:zlib'
import {
  type ByteString,
  type TarEntry,
  tarEnd,
  tarHeader,
  tarPaddingBytes,
  TarReader,
} from '@cairn/protocol'
import { CairnError } from '@cairn/sdk'
import type { Cli } from '../cli.ts'
import type { Remote } from '../remote/open.ts'

const manifestName = '.drive9-pack-manifest.json'
const format = 'drive9.pack.v1'
const entriesPrefix = 'entries/'
const chunkBytes = 1 << 20

/** Imports a pack that drive9 made, whole or not at all. */
export async function importForeignPack(cli: Cli, remote: Remote, file: string): Promise<void> {
  const { signal } = cli
  const receipt = await remote.files.importTar(remote.path, () => plainTar(file), { signal })
  if (cli.isJson) return cli.out.json(receipt)
  const { files, directories, bytes } = receipt
  await cli.out.line(`${files} files, ${directories} directories, ${bytes} bytes`)
}

/** The same entries under their own paths. */
async function* plainTar(file: string): AsyncGenerator<Uint8Array> {
  const tar = new TarReader(createReadStream(file).pipe(createGunzip()))
  await requireManifest(tar, file)
  for (let entry = await tar.next(); entry; entry = await tar.next()) {
    const plain = withoutPrefix(entry)
    if (!plain) continue
    yield tarHeader(plain)
    for (let left = entry.size; left > 0;) {
      const bytes = await tar.content(Math.min(left, chunkBytes))
      left -= bytes.length
      yield bytes
    }
    yield new Uint8Array(tarPaddingBytes(entry.size))
  }
  yield tarEnd
}

function withoutPrefix(entry: TarEntry): TarEntry | undefined {
  const path = entry.path.startsWith(entriesPrefix) ? entry.path.slice(entriesPrefix.length) : ''
  return path === '' ? undefined : { ...entry, path: path as ByteString }
}

async function requireManifest(tar: TarReader, file: string): Promise<void> {
  const first = await tar.next()
  const reason = 'it does not begin with the manifest of a pack'
  if (first?.path !== manifestName) throw notAPack(file, reason)
  const text = new TextDecoder().decode(await tar.content(first.size))
  if (!text.includes(`"${format}"`)) throw notAPack(file, `its format is not ${format}`)
}

function notAPack(file: string, reason: string): Error {
  return new CairnError('malformed', {
    what: `unpack ${file}`,
    reason,
    hint: 'For any other archive use: cairn fs import FILE :/PATH.',
  })
}
