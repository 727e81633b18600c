import type { GrepEvent, GrepLines, GrepText } from '@cairn/sdk'
import { formatName } from '../output/format.ts'
import type { Output } from '../output/output.ts'

/** Prints events as ripgrep prints lines: `path:line:column:text`, and `path-line-text` for context. */
export class GrepPrinter {
  readonly #out: Output
  readonly #wants: 'lines' | 'count' | 'files'
  readonly #hasContext: boolean
  #last: { readonly path: string; readonly line: number } | undefined

  constructor(out: Output, wants: 'lines' | 'count' | 'files', hasContext: boolean) {
    this.#out = out
    this.#wants = wants
    this.#hasContext = hasContext
  }

  async print({ type, data }: GrepEvent): Promise<void> {
    if (type === 'summary') return
    const path = this.#pathOf(data)
    if (type === 'begin' && this.#wants === 'files') return this.#out.line(path)
    if (type === 'match' || type === 'context') return this.#lines(path, data, type === 'match')
    if (type !== 'end') return undefined
    if (this.#wants === 'count') await this.#out.line(`${path}:${data.stats.matched_lines}`)
    const { binary_offset: offset } = data
    if (offset !== null && this.#wants === 'lines')
      await this.#out.line(`${path}: binary file matches (found a byte of 0 at offset ${offset})`)
  }

  #pathOf({ path, layer }: { readonly path: GrepText; readonly layer?: string }): string {
    const shown = formatName(bytesOf(path).toString(), this.#out.isTerminal)
    return layer === undefined ? shown : `${layer}:${shown}`
  }

  async #lines(path: string, found: GrepLines, isMatch: boolean): Promise<void> {
    const { line_number: first, lines, submatches } = found
    const isNext = this.#last?.path === path && this.#last.line + 1 === first
    if (this.#hasContext && this.#last && !isNext) await this.#out.line('--')
    const texts = splitLines(bytesOf(lines))
    for (const [index, text] of texts.entries()) {
      const column = index === 0 && isMatch ? `${(submatches[0]?.start ?? 0) + 1}:` : ''
      const mark = isMatch ? ':' : '-'
      await this.#line(`${path}${mark}${first + index}${mark}${column}`, text)
    }
    this.#last = { path, line: first + texts.length - 1 }
  }

  /** Bytes that are no UTF-8 are printed as they are. */
  async #line(before: string, text: Buffer): Promise<void> {
    const shown = text.toString()
    if (Buffer.from(shown).equals(text)) return this.#out.line(before + shown)
    await this.#out.bytes(Buffer.concat([Buffer.from(before), text, Buffer.from('\n')]))
  }
}

function bytesOf(text: GrepText): Buffer {
  return 'text' in text ? Buffer.from(text.text) : Buffer.from(text.bytes, 'base64')
}

function splitLines(bytes: Buffer): readonly Buffer[] {
  const lines: Buffer[] = []
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf(0x0a, at)
    const stop = end < 0 ? bytes.length : end
    lines.push(bytes.subarray(at, stop))
    at = stop + 1
  }
  return lines
}
