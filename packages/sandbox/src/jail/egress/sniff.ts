/** What the first bytes of a connection say about where it goes: a name, nothing, or too little yet. */
export type Sniffed = { readonly name: string } | 'none' | 'more'

const handshake = 22
const clientHello = 1
const serverName = 0
const headBytesMax = 16_384

/** The server name of TLS or the Host of HTTP/1. */
export function sniffName(bytes: Buffer): Sniffed {
  if (bytes.length === 0) return 'more'
  const found = bytes[0] === handshake ? sniffTls(bytes) : sniffHttp(bytes)
  return found === 'more' && bytes.length > headBytesMax ? 'none' : found
}

function sniffHttp(bytes: Buffer): Sniffed {
  const text = bytes.toString('latin1')
  if (!/^[A-Z]{1,16}(?: |$)/.test(text)) return 'none'
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return 'more'
  const name = /\r\nhost:[ \t]*([^\r\n:]+)/i.exec(text.slice(0, end + 2))?.[1]?.trim()
  return name ? { name } : 'none'
}

/** Record: type, version (2), length (2); then the message: type, length (3), version (2), random (32), … */
function sniffTls(bytes: Buffer): Sniffed {
  if (bytes.length < 5) return 'more'
  if (bytes.length < 5 + bytes.readUInt16BE(3)) return 'more'
  try {
    const hello = bytes.subarray(5, 5 + bytes.readUInt16BE(3))
    if (hello[0] !== clientHello) return 'none'
    let at = 38
    at += 1 + hello.readUInt8(at)
    at += 2 + hello.readUInt16BE(at)
    at += 1 + hello.readUInt8(at)
    return findServerName(hello.subarray(at + 2, at + 2 + hello.readUInt16BE(at)))
  } catch {
    // Shorter than it says: no client that can be believed.
    return 'none'
  }
}

function findServerName(extensions: Buffer): Sniffed {
  for (let at = 0; at + 4 <= extensions.length;) {
    const [type, length] = [extensions.readUInt16BE(at), extensions.readUInt16BE(at + 2)]
    if (type === serverName) {
      const start = at + 9
      const name = extensions.subarray(start, start + extensions.readUInt16BE(at + 7))
      return name.length > 0 ? { name: name.toString('latin1') } : 'none'
    }
    at += 4 + length
  }
  return 'none'
}
