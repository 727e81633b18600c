/** The part of DNS that a jail needs: addresses of names. Everything else has no answer. */
export interface DnsQuestion {
  readonly id: number
  readonly name: string
  readonly type: number
  /** As it was asked, to be said again in the answer. */
  readonly bytes: Buffer
}

export const typeA = 1
const headerBytes = 12
const ttlSeconds = 30
/** More do not fit into an answer that every client takes. */
const addressesMax = 16
const flags = { answer: 0x8180, missing: 0x8183, refused: 0x8185, failed: 0x8182 } as const
export type LookupOutcome = keyof typeof flags

/** Undefined for what is no question. */
export function parseQuestion(message: Buffer): DnsQuestion | undefined {
  if (message.length < headerBytes + 5 || message.readUInt16BE(4) !== 1) return undefined
  const labels: string[] = []
  let at = headerBytes
  for (;;) {
    const length = message[at]
    if (length === undefined || length > 63) return undefined
    if (length === 0) break
    labels.push(message.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  if (at + 5 > message.length) return undefined
  return {
    id: message.readUInt16BE(0),
    name: labels.join('.'),
    type: message.readUInt16BE(at + 1),
    bytes: message.subarray(headerBytes, at + 5),
  }
}

export function encodeAnswer(
  { id, bytes }: DnsQuestion,
  outcome: LookupOutcome,
  addresses: readonly string[] = [],
): Buffer {
  const given = addresses.slice(0, addressesMax)
  const header = Buffer.alloc(headerBytes)
  header.writeUInt16BE(id, 0)
  header.writeUInt16BE(flags[outcome], 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(given.length, 6)
  return Buffer.concat([header, bytes, ...given.map(encodeAddress)])
}

/** The name is that of the question, whose place in the message is 12. */
function encodeAddress(address: string): Buffer {
  const record = Buffer.alloc(16)
  record.writeUInt16BE(0xc0_0c, 0)
  record.writeUInt16BE(typeA, 2)
  record.writeUInt16BE(1, 4)
  record.writeUInt32BE(ttlSeconds, 6)
  record.writeUInt16BE(4, 10)
  for (const [at, part] of address.split('.').entries()) record[12 + at] = Number(part)
  return record
}
