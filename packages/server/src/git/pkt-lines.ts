import type { ByteQueue } from '@cairn/protocol'
import { CairnError } from '@cairn/protocol'

/** Git's lines: four hexadecimal digits of length, which count themselves, and then bytes. */

export const flush: Buffer = Buffer.from('0000')
/** What one line holds at most. */
const lineBytesMax = 65_516
/** A push has a line for each ref. */
const linesMax = 1000
const bytesMax = 1 << 20

export function pktLine(content: string | Uint8Array): Buffer {
  const bytes = Buffer.from(content as string)
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes])
}

/** Bytes for one channel of the side band: 1 is the answer, 2 is shown to the user. */
export function sideBand(channel: 1 | 2, content: Uint8Array): Buffer {
  const lines: Buffer[] = []
  for (let at = 0; at < content.length; at += lineBytesMax - 1) {
    const part = content.subarray(at, at + lineBytesMax - 1)
    lines.push(pktLine(Buffer.concat([Buffer.from([channel]), part])))
  }
  return Buffer.concat(lines)
}

/** The lines up to the next flush; none at the end. */
export async function readLines(queue: ByteQueue): Promise<readonly Buffer[]> {
  const lines: Buffer[] = []
  let bytes = 0
  for (;;) {
    const digits = Buffer.from(await queue.take(4)).toString('latin1')
    if (digits === '' || digits === '0000') return lines
    const length = /^[0-9a-f]{4}$/.test(digits) ? parseInt(digits, 16) : 0
    if (length <= 4) throw malformed()
    const line = await queue.take(length - 4)
    if (line.length < length - 4) throw malformed()
    lines.push(Buffer.from(line))
    bytes += line.length
    if (lines.length > linesMax || bytes > bytesMax) throw malformed()
  }
}

function malformed(): CairnError {
  return new CairnError('malformed', {
    what: 'read what git sent',
    reason: 'its lines are damaged, or there are too many',
  })
}
