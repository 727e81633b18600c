import { RpcError } from './rpc-error.ts'

const endFlag = 0x02
const compressedFlag = 0x01

export function encodeMessage(message: object): Buffer {
  return encodeFrame(0, message)
}

/** The last of a stream. */
export function encodeEnd(error?: RpcError): Buffer {
  if (error === undefined) return encodeFrame(endFlag, {})
  return encodeFrame(endFlag, { error: { code: error.code, message: error.message } })
}

function encodeFrame(flags: number, message: object): Buffer {
  const body = Buffer.from(JSON.stringify(message))
  const head = Buffer.alloc(5)
  head.writeUInt8(flags)
  head.writeUInt32BE(body.length, 1)
  return Buffer.concat([head, body])
}

/** The messages of a stream, as they come; ends at its last frame or where the bytes end. */
export async function* decodeMessages(source: AsyncIterable<Buffer>): AsyncIterable<unknown> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const bytes of source) {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes])
    for (;;) {
      const length = rest.length < 5 ? undefined : rest.readUInt32BE(1)
      if (length === undefined || rest.length < 5 + length) break
      const flags = rest.readUInt8()
      if (flags & endFlag) return
      if (flags & compressedFlag)
        throw new RpcError('unimplemented', 'compressed messages are not understood')
      yield JSON.parse(rest.subarray(5, 5 + length).toString())
      rest = rest.subarray(5 + length)
    }
  }
}
