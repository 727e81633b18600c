import { readFileSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { beforeAll, describe, expect, it } from 'vitest'
import { useCairn } from './run-cairn.ts'
import { useServer } from './use-server.ts'

interface Receipt {
  readonly first: number
  readonly last: number
  readonly hash: string
}

describe('cairn journal', () => {
  const cairn = useCairn()
  const server = useServer(cairn)

  beforeAll(() => server.enter('w'))

  const append = async (stdin: string, ...options: string[]): Promise<Receipt[]> => {
    const ran = await cairn.run(['journal', 'append', 'run-42', '--json', ...options], { stdin })
    if (ran.code !== 0) throw new Error(ran.stderr)
    const lines = ran.stdout.toString().trimEnd().split('\n')
    return lines.map((line) => JSON.parse(line) as Receipt)
  }

  it('the commands of the seed document', async () => {
    expect(await cairn.text('journal', 'new', '-id', 'run-42', '-title', 'run 42')).toBe('run-42\n')
    const line = '{"type":"tool.call.completed","summary":{"tool":"pytest"}}\n'
    const [receipt] = await append(line)
    expect(await cairn.text('journal', 'verify', 'run-42')).toBe(
      `ok journal=run-42 entries=1 head=${receipt!.hash}\n`,
    )
    const { stderr } = await cairn.run(['journal', 'verify', 'run-42'])
    expect(stderr).toContain('the public key was not checked')
    expect(await cairn.json('journal', 'verify', 'run-42')).toMatchObject([{ keyChecked: false }])
  })

  it('a repeated key appends once, and a line that is none appends nothing', async () => {
    const stdin = '{"type":"a"}\n\n{"type":"b"}'
    const first = await append(stdin, '--idempotency-key', 'k')
    const again = await append(stdin, '--idempotency-key', 'k')
    expect(again.map(({ hash }) => hash)).toEqual(first.map(({ hash }) => hash))
    expect(first).toMatchObject([{ first: 2, last: 3 }])
    const bad = await cairn.run(['journal', 'append', 'run-42'], { stdin: '{"type":"c"}\n{oops\n' })
    expect(bad.code).toBe(2)
    expect(bad.stderr).toContain('line 2')
    const list = await append('[{"summary":1},{"type":"own"}]', '--json-array', '-t', 'note')
    expect(list).toMatchObject([{ first: 4, last: 5 }])
    const types = (await cairn.json<{ type: string }>('journal', 'cat', 'run-42')).map(
      ({ type }) => type,
    )
    expect(types).toEqual(['tool.call.completed', 'a', 'b', 'note', 'own'])
    expect(await cairn.json('journal', 'find', '-t', 'note')).toMatchObject([
      { seq: 4, summary: 1 },
    ])
  })

  it('cat -f tells entries as they come, and ends with the seal', async () => {
    const follower = cairn.start(['journal', 'cat', 'run-42', '-f', '--after', '4', '--json'])
    const ended = once(follower, 'close')
    const lines = createInterface(follower.stdout!)[Symbol.asyncIterator]()
    const next = async (): Promise<object> =>
      JSON.parse(String((await lines.next()).value)) as object
    expect(await next()).toMatchObject({ seq: 5 })
    await append('{"type":"live"}\n')
    expect(await next()).toMatchObject({ seq: 6, type: 'live' })
    await cairn.text('journal', 'seal', 'run-42', '--reason', 'over')
    expect(await next()).toMatchObject({ seq: 7, summary: { reason: 'over' } })
    expect((await ended)[0]).toBe(0)
    expect(await cairn.error('journal', 'seal', 'none')).toMatchObject({ code: 'journal_missing' })
    const late = await cairn.run(['journal', 'append', 'run-42'], { stdin: '{"type":"late"}\n' })
    expect(late.code).toBe(16)
  })

  it('an export is checked without a server, and what was changed in it is found', async () => {
    const file = join(cairn.home(), 'run-42.jsonl')
    const [made] = await cairn.json<{ publicKey: string }>('journal', 'export', 'run-42', file)
    const offline = { HOME: '/nonexistent', CAIRN_SERVER: 'http://127.0.0.1:1', CAIRN_API_KEY: 'k' }
    const verify = (path: string, ...rest: string[]): ReturnType<typeof cairn.run> =>
      cairn.run(['journal', 'verify', path, '--public-key', made!.publicKey, ...rest], {
        env: offline,
      })
    const whole = await verify(file)
    expect(whole.stdout.toString()).toMatch(
      /^ok journal=run-42 entries=7 head=[0-9a-f]{64} sealed\n$/,
    )
    const lines = readFileSync(file, 'utf8').split('\n')
    writeFileSync(`${file}.cut.jsonl`, [...lines.slice(0, -3), ...lines.slice(-2)].join('\n'))
    expect((await verify(`${file}.cut.jsonl`)).code).toBe(11)
    writeFileSync(`${file}.edited.jsonl`, lines.join('\n').replace('pytest', 'pyTest'))
    expect((await verify(`${file}.edited.jsonl`)).code).toBe(11)
    expect((await verify(file, '--receipt', `3:${'0'.repeat(64)}`)).code).toBe(11)
  })
})
