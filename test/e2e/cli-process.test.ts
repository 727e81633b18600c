// The command as a process: serving, broken pipes, a fresh home.
import type { ChildProcess } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, describe, expect, it } from 'vitest'
import { useCairn } from './run-cairn.ts'
import { keyFile } from '@cairn/server/testing/key-file'

const cairn = useCairn()
const children = new Set<ChildProcess>()

afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
  children.clear()
})

interface Serving {
  readonly child: ChildProcess
  readonly line: string
  readonly url: string
  readonly exitCode: Promise<number | null>
}

async function serve(...args: string[]): Promise<Serving> {
  const child = cairn.start(['serve', '--listen', '127.0.0.1:0', ...args])
  children.add(child)
  const exitCode = new Promise<number | null>((resolve) => child.on('close', resolve))
  const errors: string[] = []
  child.stderr!.on('data', (text: Buffer) => errors.push(text.toString()))
  for await (const line of createInterface({ input: child.stdout! })) {
    const url = /http:\/\/[\d.]+:\d+/.exec(line)?.[0]
    if (url !== undefined) return { child, line, url, exitCode }
  }
  throw new Error(`cairn serve ended: ${errors.join('')}`)
}

describe('serve', () => {
  it('says where it listens, saves a context, and keeps everything over a restart', async () => {
    const data = join(cairn.home(), '.cairn/data')
    const first = await serve()
    expect(first.line).toBe(
      `listening on ${first.url}, data in ${data}; its owner key is saved as context local, with the workspace default`,
    )
    expect(statSync(join(data, 'owner-key')).mode & 0o777).toBe(0o600)
    expect(statSync(data).mode & 0o777).toBe(0o700)
    await cairn.run(['fs', 'cp', '-', ':/a'], { stdin: 'kept' })
    first.child.kill('SIGTERM')
    expect(await first.exitCode).toBe(0)

    const second = await serve()
    expect(second.line).toBe(`listening on ${second.url}, data in ${data}`)
    const key = readFileSync(join(data, 'owner-key'), 'utf8').trim()
    const again = ['--server', second.url, '--api-key-file', keyFile(key), '-w', 'default']
    expect(await cairn.text('fs', 'cat', ':/a', ...again)).toBe('kept')
    second.child.kill('SIGINT')
    expect(await second.exitCode).toBe(0)
    const gone = await cairn.run(['fs', 'cat', ':/a', ...again])
    expect(gone.code).toBe(12)
    expect(gone.stderr).toContain('cairn fs cat: cannot read /a: ')
  })

  it('another server does not take the name of the first', async () => {
    const { child, line, exitCode } = await serve('--data', join(cairn.home(), 'other'))
    expect(line).toMatch(/saved as context local-\d+, with the workspace default$/)
    child.kill('SIGTERM')
    expect(await exitCode).toBe(0)
  })

  it('what cannot be listened on is told', async () => {
    const ran = await cairn.run([
      'serve',
      '--listen',
      'nonsense',
      '--data',
      join(cairn.home(), 'x'),
    ])
    expect(ran.code).toBe(2)
    expect(ran.stderr).toMatch(/^cairn serve: cannot listen on 'nonsense'/)
  })
})

describe('a reader that goes away', () => {
  it('a reader that goes away is no error to tell', async () => {
    const child = cairn.start(['--help'])
    // Long before the help is written.
    child.stdout!.destroy()
    let stderr = ''
    child.stderr!.on('data', (text: Buffer) => (stderr += text.toString()))
    expect(await new Promise((resolve) => child.on('close', resolve))).toBe(141)
    expect(stderr).toBe('')
  })
})

it('a home that does not exist yet is no obstacle', async () => {
  const home = join(cairn.home(), 'new/home')
  const env = { HOME: home }
  const ran = await cairn.run(
    ['ctx', 'add', '--server', 'http://h', '--api-key-file', keyFile('k')],
    { env },
  )
  expect(ran.stderr).toBe('')
  expect(existsSync(join(home, '.cairn/config'))).toBe(true)
})
