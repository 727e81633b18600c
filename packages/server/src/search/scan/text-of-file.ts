/** Turns UTF-16 with a byte-order mark into UTF-8, and takes away the mark of UTF-8. Other bytes stay as they are. */
export class TextOfFile {
  #decoder: InstanceType<typeof TextDecoder> | undefined
  #isFirst = true

  next(chunk: Buffer, isLast: boolean): Buffer {
    let bytes = chunk
    if (this.#isFirst && chunk.length > 0) {
      this.#isFirst = false
      if (chunk[0] === 0xff && chunk[1] === 0xfe) this.#decoder = new TextDecoder('utf-16le')
      else if (chunk[0] === 0xfe && chunk[1] === 0xff) this.#decoder = new TextDecoder('utf-16be')
      else if (chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf)
        bytes = chunk.subarray(3)
    }
    return this.#decoder ? Buffer.from(this.#decoder.decode(bytes, { stream: !isLast })) : bytes
  }
}
