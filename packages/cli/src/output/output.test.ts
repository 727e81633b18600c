import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Output, type OutputStream } from './output.ts'
import { relativeTime } from './relative-time.ts'
import { formatTable } from './table.ts'

function capture(isTTY: boolean, columns = 80): { stream: OutputStream; text: () => string } {
  let text = ''
  const stream = new Writable({
    write: (chunk: Buffer, _, done) => {
      text += chunk.toString()
      done()
    },
  })
  return { stream: Object.assign(stream, { isTTY, columns }), text: () => text }
}

const times = [
  ['2031-05-01T12:00:00Z', 'now'],
  ['2031-05-01T11:59:59Z', '1 second ago'],
  ['2031-05-01T11:58:00Z', '2 minutes ago'],
  ['2031-04-30T12:00:00Z', '1 day ago'],
  ['2029-05-01T12:00:00Z', '2 years ago'],
  ['2031-05-08T11:59:00Z', 'in 6 days'],
] as const

it.each(times)('%s is %s at noon', (time, text) => {
  expect(relativeTime(time, Date.parse('2031-05-01T12:00:00Z'))).toBe(text)
})

describe('a table', () => {
  const rows = [
    ['NAME', 'ID', 'PATH'],
    ['a', 'ws_0123456789abcdef', '/repo/packages/server/src/index.ts'],
  ]

  it('a table that is too wide loses text in its widest column', () => {
    expect(formatTable(rows, [], 30)).toEqual([
      'NAME  ID           PATH',
      'a     ws_0123456…  /repo/pack…',
    ])
  })

  it('a table is whole in a file, whatever its width', async () => {
    const { stream, text } = capture(false, 20)
    const out = new Output(stream)
    await out.table(rows)
    await out.end()
    expect(text()).toBe(
      formatTable(rows)
        .map((line) => `${line}\n`)
        .join(''),
    )
  })
})

it('an error output writes each line at once, also into a file', async () => {
  const { stream, text } = capture(false)
  await new Output(stream, { isUnbuffered: true }).line('base is ready')
  expect(text()).toBe('base is ready\n')
})

describe('colours', () => {
  it.each([
    [true, {}, '\x1b[31mx\x1b[0m'],
    [true, { NO_COLOR: '1' }, 'x'],
    [true, { NO_COLOR: '' }, '\x1b[31mx\x1b[0m'],
    [true, { TERM: 'dumb' }, 'x'],
    [false, {}, 'x'],
  ])('terminal %s, environment %o', (isTTY, env, text) => {
    expect(new Output(capture(isTTY).stream, { env }).paint('x', 'red')).toBe(text)
  })
})

describe('a pager', () => {
  const place = (): string => {
    const directory = mkdtempSync(join(tmpdir(), 'cairn-pager-'))
    onTestFinished(() => rmSync(directory, { recursive: true }))
    return join(directory, 'shown')
  }

  it('gets all that is printed, and the command waits until it has ended', async () => {
    const [shown, { stream, text }] = [place(), capture(true)]
    const out = new Output(stream, { env: { PATH: process.env['PATH'], PAGER: `cat > ${shown}` } })
    await out.page()
    for (let i = 0; i < 5000; i++) await out.line(`line ${i}`)
    await out.end()
    expect(readFileSync(shown, 'utf8').split('\n').length).toBe(5001)
    expect(text()).toBe('')
  })

  it('a pager that its user leaves early breaks the pipe, and nothing hangs', async () => {
    const out = new Output(capture(true).stream, {
      env: {
        PATH: process.env['PATH'],
        PAGER: 'head -n 1 > /dev/null',
      },
    })
    await out.page()
    const print = async (): Promise<void> => {
      for (;;) await out.line('x'.repeat(1000))
    }
    await expect(print()).rejects.toMatchObject({ code: 'EPIPE' })
    await out.end()
  })

  it.each([
    [true, ''],
    [true, 'cat'],
    [false, 'false'],
  ])('a pager is not started: terminal %s, PAGER=%s', async (isTTY, pager) => {
    const { stream, text } = capture(isTTY)
    const out = new Output(stream, { env: { PATH: process.env['PATH'], PAGER: pager } })
    await out.page()
    await out.line('here')
    await out.end()
    expect(text()).toBe('here\n')
  })
})
