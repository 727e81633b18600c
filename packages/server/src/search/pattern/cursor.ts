import { PatternError } from './ast.ts'

/** Reads a pattern character by character. */
export class Cursor {
  readonly #characters: readonly string[]
  #at = 0

  constructor(text: string) {
    this.#characters = Array.from(text)
  }

  get isEnd(): boolean {
    return this.#at >= this.#characters.length
  }

  peek(ahead = 0): string | undefined {
    return this.#characters[this.#at + ahead]
  }

  next(): string {
    const character = this.#characters[this.#at++]
    if (character === undefined) throw new PatternError('it ends in the middle of an expression')
    return character
  }

  startsWith(text: string): boolean {
    return Array.from(text).every((character, index) => this.peek(index) === character)
  }

  /** True, and it is passed, when it comes next. */
  take(text: string): boolean {
    if (!this.startsWith(text)) return false
    this.skip(Array.from(text).length)
    return true
  }

  skip(count: number): void {
    this.#at += count
  }

  /** Up to so many characters that follow. */
  rest(count: number): string {
    return this.#characters.slice(this.#at, this.#at + count).join('')
  }

  /** What stands before the closing text, which is passed. */
  until(end: string): string {
    let text = ''
    while (!this.take(end)) text += this.next()
    return text
  }
}
