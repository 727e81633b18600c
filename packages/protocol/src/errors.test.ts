import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { errnoTable, FsError, isFsError } from './errno.ts'
import { type ErrorCode, errorTable } from './error-table.ts'
import { CairnError, httpStatusOf, isCairnError } from './errors.ts'

const codes = Object.keys(errorTable) as ErrorCode[]
const page = readFileSync(new URL('../../../docs/reference/errors.md', import.meta.url), 'utf8')

describe('docs/reference/errors.md', () => {
  const rows = new Map(
    [...page.matchAll(/^\| `(\w+)` \| (\d+|–) \| (\w+) \| (\d+) \| ([\w-]+) \|$/gm)].map(
      ([, code, httpStatus, errno, exitCode, retry]) => [
        code,
        {
          ...(httpStatus === '–' ? {} : { httpStatus: Number(httpStatus) }),
          errno,
          exitCode: Number(exitCode),
          retry,
        },
      ],
    ),
  )
  const sections = new Map(
    [...page.matchAll(/^### (\w+)\n\n> (.+)\n\n([^]+?)(?=\n\n##|\n*$(?![^]))/gm)].map(
      ([, code, hint, text]) => [code, { hint, text: text! }],
    ),
  )

  it('docs/reference/errors.md has a row for every code, and no others', () => {
    expect(new Set(rows.keys())).toEqual(new Set(codes))
  })

  it('docs/reference/errors.md has a section for every code, and no others', () => {
    expect(new Set(sections.keys())).toEqual(new Set(codes))
  })

  it.each(codes)('%s: the numbers and the hint are those of the table', (code) => {
    const { hint, ...numbers } = errorTable[code]
    expect(rows.get(code)).toEqual(numbers)
    expect(sections.get(code)?.hint).toBe(hint)
    expect(sections.get(code)?.text.length).toBeGreaterThan(40)
  })
})

describe('error table', () => {
  it.each(codes)('%s: a plausible status, errno and exit code, and a hint in sentences', (code) => {
    const { errno, exitCode, hint } = errorTable[code]
    expect(httpStatusOf(code)).toBeGreaterThanOrEqual(400)
    expect(httpStatusOf(code)).toBeLessThan(600)
    expect(errnoTable).toHaveProperty(errno)
    // 0 is success; from 126 on, shells speak for themselves.
    expect(exitCode).toBeGreaterThanOrEqual(1)
    expect(exitCode).toBeLessThan(126)
    expect(hint).toMatch(/^[A-Z].*\.$/)
  })
})

describe('CairnError', () => {
  it('says what could not be done, why, and what to do', () => {
    const error = new CairnError('branch_missing', {
      what: 'open branch x',
      reason: 'there is none',
      subject: 'x',
    })
    expect(error.message).toBe(
      'cannot open branch x: there is none. List the layers with: cairn fs layer list.',
    )
    expect([error.name, error.code, error.subject]).toEqual(['CairnError', 'branch_missing', 'x'])
  })

  it('keeps its cause; without one and without a subject, it has none', () => {
    const cause = new Error('deeper')
    expect(new CairnError('corrupt', { what: 'read', reason: 'it is so', cause }).cause).toBe(cause)
    const bare = new CairnError('corrupt', { what: 'read', reason: 'it is so' })
    expect([bare.cause, bare.subject]).toEqual([undefined, undefined])
    expect(bare.message).not.toContain('undefined')
  })

  it('CairnError is recognised by name and code, also one of another copy of this package', () => {
    const error = new CairnError('corrupt', { what: 'read', reason: 'it is so' })
    expect(isCairnError(error)).toBe(true)
    expect(isCairnError(error, 'corrupt')).toBe(true)
    expect(isCairnError(error, 'malformed')).toBe(false)
    const foreign = Object.assign(new Error('cannot read'), { name: 'CairnError', code: 'corrupt' })
    expect(isCairnError(foreign, 'corrupt')).toBe(true)
    for (const other of [undefined, null, 'CairnError', new Error('x'), { name: 'CairnError' }])
      expect(isCairnError(other)).toBe(false)
  })
})

describe('FsError', () => {
  it('says its errno and what that means', () => {
    expect(new FsError('ENOENT').message).toBe('ENOENT: no such file or directory')
  })

  it('FsError is recognised by name and code, and is no CairnError', () => {
    const error = new FsError('ENOENT')
    expect(isFsError(error, 'ENOENT')).toBe(true)
    expect(isFsError(error, 'EIO')).toBe(false)
    expect(isFsError(new CairnError('corrupt', { what: 'read', reason: 'it is so' }))).toBe(false)
    expect(isCairnError(error)).toBe(false)
  })

  it('FsError has Linux’s numbers, each once', () => {
    const numbers = Object.values(errnoTable).map(([number]) => number)
    expect(new Set(numbers).size).toBe(numbers.length)
    expect(errnoTable.ENOTEMPTY[0]).toBe(39)
    expect(errnoTable.EOPNOTSUPP[0]).toBe(95)
  })
})
