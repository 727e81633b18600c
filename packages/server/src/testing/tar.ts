/** What a header says, true or not. */
export interface RawEntry {
  readonly path: string
  readonly content?: string
  /** `0` is a file, `2` a symlink, `1` a hard link, `5` a directory. */
  readonly flag?: string
  readonly target?: string
  /** The size of the content, as the header claims. */
  readonly size?: number
}

/** A tar archive that says what it is told to say. */
export function tarOf(entries: readonly RawEntry[]): Buffer<ArrayBuffer> {
  return Buffer.concat([...entries.map(rawEntry), Buffer.alloc(1024)])
}

/** A path of any length takes a header of its own. */
function rawEntry({ path, content = '', ...more }: RawEntry): Buffer {
  const bytes = Buffer.from(content, 'latin1')
  const long =
    Buffer.byteLength(path, 'latin1') > 99
      ? [header({ path: 'long', flag: 'L' }, path.length), padded(Buffer.from(path, 'latin1'))]
      : []
  return Buffer.concat([...long, header({ path, ...more }, bytes.length), padded(bytes)])
}

function header({ path, flag = '0', target = '', size }: RawEntry, length: number): Buffer {
  const block = Buffer.alloc(512)
  const put = (offset: number, width: number, text: string): number =>
    block.write(text.slice(0, width), offset, 'latin1')
  put(0, 100, path)
  put(100, 8, '0000644\0')
  put(124, 12, `${(size ?? length).toString(8).padStart(11, '0')}\0`)
  put(136, 12, '00000000000\0')
  put(148, 8, '        ')
  put(156, 1, flag)
  put(157, 100, target)
  put(257, 8, 'ustar\x0000')
  const sum = block.reduce((total, byte) => total + byte, 0)
  put(148, 8, `${sum.toString(8).padStart(6, '0')}\0 `)
  return block
}

/** A pax header, for the entry behind it or, with `g`, for all. */
export function paxOf(records: Readonly<Record<string, string>>, flag: 'x' | 'g' = 'x'): Buffer {
  const text = Object.entries(records).map(([key, value]) => record(` ${key}=${value}\n`))
  const bytes = Buffer.from(text.join(''), 'latin1')
  return Buffer.concat([header({ path: 'pax', flag }, bytes.length), padded(bytes)])
}

/** Its length counts its own digits. */
function record(rest: string): string {
  for (let length = rest.length; ; length++)
    if (`${length}`.length + rest.length === length) return `${length}${rest}`
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)])
}
