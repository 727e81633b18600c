import { describe, expect, it } from 'vitest'
import { formatBytes, formatDuration, formatMode, formatName, formatTime } from './format.ts'
import { formatTable } from './table.ts'
import { Memory } from '../../test/run-cli.ts'
import { Output } from './output.ts'
import { ProgressBar, renderProgress } from './progress.ts'

it.each([
  [0, '0'],
  [1023, '1023'],
  [1024, '1.0k'],
  [10 * 1024, '10k'],
  [1024 * 1024 - 1, '1.0M'],
  [1.5 * 2 ** 30, '1.5G'],
  [2 ** 60, '1.0E'],
  [2 ** 70, '1024E'],
])('%d bytes: %s', (count, text) => {
  expect(formatBytes(count)).toBe(text)
})

it.each([
  [0, '0:00'],
  [59.6, '1:00'],
  [3723, '1:02:03'],
  [-1, '0:00'],
])('%d seconds: %s', (seconds, text) => {
  expect(formatDuration(seconds)).toBe(text)
})

it('times are UTC, to the second', () => {
  expect(formatTime('1000000000123456789')).toBe('2001-09-09 01:46:40')
})

it.each([
  ['file', '0644', '-rw-r--r--'],
  ['directory', '1777', 'drwxrwxrwt'],
  ['file', '4755', '-rwsr-xr-x'],
  ['file', '2644', '-rw-r-Sr--'],
  ['symlink', '0777', 'lrwxrwxrwx'],
  ['fifo', '0000', 'p---------'],
] as const)('%s %s: %s', (kind, mode, text) => {
  expect(formatMode(kind, mode)).toBe(text)
})

describe('formatName', () => {
  it('a terminal is not told to do anything', () => {
    expect(formatName('a\x1b[31mb\nc\u202ed\x9b', true)).toBe('a\\x1b[31mb\\x0ac\\x202ed\\x9b')
    expect(formatName('grün 😀', true)).toBe('grün 😀')
  })

  it('a program gets the name as it is', () => {
    expect(formatName('a\nb', false)).toBe('a\nb')
  })
})

it('columns are aligned, the last one not padded', () => {
  expect(
    formatTable(
      [
        ['a', '10', 'x'],
        ['bbb', '2', 'yy'],
      ],
      [1],
    ),
  ).toEqual(['a    10  x', 'bbb   2  yy'])
})

describe('renderProgress', () => {
  const state = { doneBytes: 50 << 20, totalBytes: 100 << 20, doneFiles: 3, seconds: 10 }

  it('share, bar, bytes, rate and time left', () => {
    expect(renderProgress(state, 80)).toBe(
      ' 50% [====================>                   ]  50M of 100M  5.0M/s  0:10 left',
    )
  })

  it('progress without a total shows files, bytes and rate', () => {
    expect(renderProgress({ ...state, totalBytes: undefined }, 80)).toBe('3 files  50M  5.0M/s')
  })

  it('where there is little room: no bar, and never more than fits', () => {
    expect(renderProgress(state, 40)).toBe(' 50%  50M of 100M  5.0M/s  0:10 left')
    expect(renderProgress(state, 10)).toHaveLength(10)
  })

  it('at both ends', () => {
    expect(renderProgress({ ...state, doneBytes: 0 }, 80)).toContain('-:-- left')
    expect(renderProgress({ ...state, doneBytes: 100 << 20 }, 80)).toContain('100% [====')
    expect(renderProgress({ ...state, doneBytes: 0, totalBytes: 0 }, 80)).toContain('100%')
  })
})

describe('ProgressBar', () => {
  const draw = async (isTerminal: boolean, isJson: boolean, ms: number): Promise<string> => {
    const stream = new Memory(isTerminal)
    let now = 0
    const bar = new ProgressBar({ err: new Output(stream), isJson }, () => now)
    bar.expect(100)
    bar.expectNoMore()
    for (const at of [ms / 2, ms, ms + 1]) {
      now = at
      bar.add(25)
    }
    await bar.clear()
    return stream.text
  }

  it('ProgressBar is drawn on a terminal once it takes long, not at every step, and taken away at last', async () => {
    const text = await draw(true, false, 1000)
    expect(text.split('\r')).toHaveLength(4)
    expect(text).toContain('\r 25% [')
    expect(text).toContain('\r 50% [')
    expect(text.endsWith('\r\x1b[K')).toBe(true)
  })

  it('ProgressBar is not drawn for quick work, for programs or without a terminal', async () => {
    expect(await draw(true, false, 100)).toBe('')
    expect(await draw(true, true, 1000)).toBe('')
    expect(await draw(false, false, 1000)).toBe('')
  })
})
