import { type ByteString, CairnError } from '@cairn/protocol'
import { bytesOfBase64, bytesOfText, checkPath } from './raw-path.ts'

/** Reads the fields of a JSON object one by one, and at the end refuses unknown ones. */
export class Fields {
  readonly #object: Readonly<Record<string, unknown>>
  readonly #left: Set<string>
  readonly #where: string

  constructor(value: unknown, where: string) {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw refuse(where, 'want a JSON object')
    this.#object = value as Readonly<Record<string, unknown>>
    this.#left = new Set(Object.keys(value))
    this.#where = where
  }

  text(name: string): string | undefined {
    const value = this.#take(name)
    if (value === undefined || typeof value === 'string') return value
    throw refuse(this.#where, `${name} must be a string`)
  }

  flag(name: string, otherwise = false): boolean {
    const value = this.#take(name)
    if (value === undefined || typeof value === 'boolean') return value ?? otherwise
    throw refuse(this.#where, `${name} must be true or false`)
  }

  count(name: string): number | undefined {
    const value = this.#take(name)
    if (value === undefined) return undefined
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
    throw refuse(this.#where, `${name} must be a whole number`)
  }

  path(name: string): ByteString {
    return checkPath(this.bytes(name))
  }

  /** Text under its name or, with `Bytes` at the end of the name, base64: see `Spelled`. */
  bytes(name: string): ByteString {
    const text = this.text(name)
    const base64 = this.base64(`${name}Bytes`)
    if (text !== undefined && base64 !== undefined)
      throw refuse(this.#where, `give ${name} or ${name}Bytes, not both`)
    if (text === undefined && base64 === undefined) throw refuse(this.#where, `${name} is missing`)
    return base64 ?? bytesOfText(text!)
  }

  base64(name: string): ByteString | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const bytes = bytesOfBase64(text)
    if (bytes === undefined) throw refuse(this.#where, `${name} must be base64`)
    return bytes
  }

  mode(name: string): number | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    if (/^[0-7]{1,4}$/.test(text)) return parseInt(text, 8)
    throw refuse(this.#where, `${name} must be octal, such as "0644"`)
  }

  required(name: string): string {
    const text = this.text(name)
    if (text === undefined) throw refuse(this.#where, `${name} is missing`)
    return text
  }

  end(): void {
    const [name] = this.#left
    if (name !== undefined) throw refuse(this.#where, `${name} is not known here`)
  }

  #take(name: string): unknown {
    this.#left.delete(name)
    return this.#object[name]
  }
}

function refuse(where: string, why: string): CairnError {
  return new CairnError('invalid_argument', { what: `read ${where}`, reason: why, subject: where })
}
