import { beforeAll, describe, expect, it } from 'vitest'
import { useCairn } from './run-cairn.ts'
import { useServer } from './use-server.ts'

describe('cairn sql', () => {
  const cairn = useCairn()
  const server = useServer(cairn)

  beforeAll(async () => {
    await server.enter('w')
    const files = { ':/repo/a.ts': 'one\n', ':/repo/b.ts': 'three\n', ':/c,d.md': 'TODO\n' }
    for (const [path, text] of Object.entries(files)) {
      const ran = await cairn.run(['fs', 'cp', '-', path], { stdin: text })
      if (ran.code !== 0) throw new Error(ran.stderr)
    }
  })

  const count = "select ext, count(*) as n from files where kind = 'file' group by ext order by 1"

  it('prints a table, CSV, or an object for each row', async () => {
    expect(await cairn.text('sql', count)).toBe('EXT  N\nmd   1\nts   2\n')
    const paths = "select path, size from files where ext = 'md'"
    expect(await cairn.text('sql', '--csv', paths)).toBe('path,size\n"/c,d.md",5\n')
    expect(await cairn.text('sql', '--json', paths)).toBe('{"path":"/c,d.md","size":5}\n')
  })

  it('cairn sql has the entries of journals', async () => {
    await cairn.text('journal', 'new', '--id', 'deploys')
    const stdin = '{"type":"deploy.done","status":"ok"}\n'
    await cairn.run(['journal', 'append', 'deploys'], { stdin })
    expect(await cairn.json('sql', 'select journal, seq, type, status from journal')).toEqual([
      { journal: 'deploys', seq: 1, type: 'deploy.done', status: 'ok' },
    ])
  })

  it('says if there are more rows than the limit', async () => {
    const ran = await cairn.run(['sql', '-n', '1', 'select path from files order by path'])
    expect(ran.stdout.toString()).toBe('PATH\n/c,d.md\n')
    expect(ran.stderr).toContain('there are more rows than 1')
  })

  it('names the tables when one is not known', async () => {
    const ran = await cairn.run(['sql', 'select * from users'])
    expect(ran.code).toBe(2)
    expect(ran.stderr).toContain('cannot run the SQL: no such table: users. The tables are files(')
  })
})
