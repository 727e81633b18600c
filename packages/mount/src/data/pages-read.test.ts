import { describe, expect, it } from 'vitest'
import { PagesRead } from './pages-read.ts'

/** Larger than any page. */
const unit = 65_536

describe('the pages that the kernel may have', () => {
  it('the pages that the kernel may have are those that it read, whole', () => {
    const pages = new PagesRead()
    pages.add(unit + 100, unit + 200)
    expect(pages.has(unit, unit + 1)).toBe(true)
    expect(pages.has(0, unit)).toBe(false)
    expect(pages.has(2 * unit, 3 * unit)).toBe(false)
  })

  it('lose those that it drops, and get those that it reads again', () => {
    const pages = new PagesRead()
    pages.add(0, 4 * unit)
    pages.drop(unit, 2 * unit)
    expect(pages.has(unit, 2 * unit)).toBe(false)
    expect([pages.has(0, unit), pages.has(2 * unit, 4 * unit)]).toEqual([true, true])
    pages.add(unit + 1, unit + 2)
    expect(pages.has(unit, 2 * unit)).toBe(true)
    pages.dropAll()
    expect(pages.has(0, 4 * unit)).toBe(false)
  })

  it('the pages that the kernel may have are too many rather than too few, where they are in very many places', () => {
    const pages = new PagesRead()
    for (let at = 0; at < 1000; at++) pages.add(2 * at * unit, 2 * at * unit + 1)
    for (let at = 0; at < 1000; at++) expect(pages.has(2 * at * unit, 2 * at * unit + 1)).toBe(true)
    expect(pages.has(2000 * unit, 2001 * unit)).toBe(false)
  })
})
