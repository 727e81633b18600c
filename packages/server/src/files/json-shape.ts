import { CairnError } from '@cairn/protocol'

const depthMax = 64
const valuesMax = 200_000
/** Fewer, because they cost more: an object of 200,000 names takes 60 ms to parse. */
const fieldsMax = 25_000

/**
 * Counts how deep JSON is nested and how many values it has, as its bytes arrive and before anything is made of them: 8
 * MiB of brackets are small to send and block every other client for seconds.
 */
export class JsonShape {
  #depth = 0
  #values = 0
  #fields = 0
  #isText = false
  #isEscaped = false

  /** Throws `malformed` above the depth, `too_large` above the number. */
  add(bytes: Uint8Array): void {
    // Plain variables and numbers: this looks at every byte while all other requests wait.
    let [depth, values, fields] = [this.#depth, this.#values, this.#fields]
    let [isText, at] = [this.#isText, 0]
    if (this.#isEscaped) at++
    for (; at < bytes.length; at++) {
      // 5c is a backslash, 22 a quote, 5b and 7b open, 5d and 7d close, 2c is a comma, 3a a colon.
      const byte = bytes[at]
      if (isText) {
        if (byte === 0x5c) at++
        else if (byte === 0x22) isText = false
      } else if (byte === 0x22) isText = true
      else if (byte === 0x5b || byte === 0x7b) {
        if (++depth > depthMax) throw tooDeep()
      } else if (byte === 0x5d || byte === 0x7d) depth--
      else if (byte === 0x2c) values++
      else if (byte === 0x3a) fields++
    }
    if (values > valuesMax) throw tooMany(valuesMax, 'values')
    if (fields > fieldsMax) throw tooMany(fieldsMax, 'fields')
    this.#depth = depth
    this.#values = values
    this.#fields = fields
    this.#isText = isText
    this.#isEscaped = at > bytes.length
  }
}

function tooDeep(): CairnError {
  return new CairnError('malformed', {
    what: 'read the body',
    reason: `its JSON is nested more than ${depthMax} levels deep`,
  })
}

function tooMany(limit: number, what: string): CairnError {
  return new CairnError('too_large', {
    what: 'read the JSON body',
    reason: `it has more than ${limit} ${what}`,
  })
}
