import { beforeAll, describe, expect, it } from 'vitest'
import { useCairn } from './run-cairn.ts'
import { useServer } from './use-server.ts'

describe('cairn fs grep', () => {
  const cairn = useCairn()
  const server = useServer(cairn)

  beforeAll(async () => {
    await server.enter('w')
    await write(':/repo/a.ts', 'one\nTokenExpired here\nthree\nfour\n')
    await write(':/repo/b/c.ts', 'x = TokenExpired\n')
    await write(':/repo/notes.md', 'tokenexpired\n')
    await cairn.text('fs', 'layer', 'create', ':/repo', '--name', 'try')
    await write(':/repo/b/c.ts', 'y = TokenExpired()\n', '--layer', 'try')
    await cairn.text('fs', 'layer', 'checkpoint', 'try', '--label', 'then')
    await write(':/repo/b/c.ts', 'gone\n', '--layer', 'try')
  })

  const write = async (path: string, text: string, ...rest: string[]): Promise<void> => {
    const ran = await cairn.run(['fs', 'cp', '-', path, ...rest], { stdin: text })
    if (ran.code !== 0) throw new Error(ran.stderr)
  }
  const grep = (...args: string[]): Promise<string> => cairn.text('fs', 'grep', ...args)

  it('prints path, line, column and text', async () => {
    expect(await grep('Token[A-Z]', ':/repo')).toBe(
      '/repo/a.ts:2:1:TokenExpired here\n/repo/b/c.ts:1:5:x = TokenExpired\n',
    )
  })

  it('takes the options of rg', async () => {
    expect(await grep('-i', '-C1', '-g', '*.ts', 'tokenexpired here', ':/repo')).toBe(
      '/repo/a.ts-1-one\n/repo/a.ts:2:1:TokenExpired here\n/repo/a.ts-3-three\n',
    )
    expect(await grep('-ic', 'tokenexpired', ':/repo')).toBe(
      '/repo/a.ts:1\n/repo/b/c.ts:1\n/repo/notes.md:1\n',
    )
    expect(await grep('-l', '-t', 'md', '-i', 'TOKEN', ':/repo')).toBe('/repo/notes.md\n')
  })

  it('searches a layer, a checkpoint, and only what a layer changed', async () => {
    expect(await grep('Token', ':/repo', '--layer', 'try')).toBe(
      '/repo/a.ts:2:1:TokenExpired here\n',
    )
    expect(await grep('Token', ':/repo/b', '--layer', 'try', '--at', 'then')).toBe(
      '/repo/b/c.ts:1:5:y = TokenExpired()\n',
    )
    expect(await grep('e', ':/repo', '--layer', 'try', '--changed')).toBe('/repo/b/c.ts:1:4:gone\n')
  })

  it('ends with 1 where nothing is found, and names what is wrong with a pattern', async () => {
    expect((await cairn.run(['fs', 'grep', 'nowhere', ':/'])).code).toBe(1)
    expect(await cairn.error('fs', 'grep', '(', ':/')).toMatchObject({ code: 'invalid_argument' })
    expect(await cairn.error('fs', 'grep', 'a', ':/absent')).toMatchObject({ errno: 'ENOENT' })
  })

  it('fs search ranks files by their words, with a passage; 1 where there is none', async () => {
    expect(await cairn.text('fs', 'search', 'which token expires', ':/repo', '-n', '2')).toBe(
      '/repo/b/c.ts:1\n    x = TokenExpired\n\n' +
        '/repo/a.ts:2\n    one\n    TokenExpired here\n    three\n    four\n',
    )
    expect(await cairn.json('fs', 'search', 'token', ':/repo', '-t', 'md')).toMatchObject([
      { path: '/repo/notes.md', line: 1, passage: 'tokenexpired' },
    ])
    expect((await cairn.run(['fs', 'search', 'nowhere', ':/'])).code).toBe(1)
    expect(await cairn.error('fs', 'search', '??', ':/')).toMatchObject({
      code: 'invalid_argument',
    })
  })

  it('prints the events of rg --json', async () => {
    const { stdout } = await cairn.run(['fs', 'grep', '--json', 'four', ':/repo'])
    const events = stdout
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(events.map(({ type }) => type)).toEqual(['begin', 'match', 'end', 'summary'])
    expect(events[1].data).toMatchObject({ path: { text: '/repo/a.ts' }, line_number: 4 })
    expect(events[3].data).toMatchObject({ engine: 'literal', truncated: null })
  })
})
