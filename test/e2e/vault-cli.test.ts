import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { useCairn } from './run-cairn.ts'
import { useServer } from './use-server.ts'

describe('cairn vault', () => {
  const cairn = useCairn()
  const server = useServer(cairn)

  beforeAll(() => server.enter('w'))

  const with_ = (token: string): Record<string, string> => ({
    CAIRN_VAULT_TOKEN: token,
    CAIRN_SERVER: server.url,
    CAIRN_WORKSPACE: 'w',
  })

  it('fields come from words, files and standard input, and both spellings find them', async () => {
    const file = join(cairn.home(), 'url')
    writeFileSync(file, 'postgres://db\n')
    const set = ['vault', 'set', 'prod-db', `DB_URL=@${file}`, 'DB_USER=app', 'DB_PASSWORD=-']
    expect((await cairn.run(set, { stdin: 'p w' })).code).toBe(0)
    expect(await cairn.text('vault', 'get', 'prod-db/DB_PASSWORD')).toBe('p w')
    expect(await cairn.text('vault', 'get', '/n/vault/prod-db/DB_URL')).toBe('postgres://db\n')
    await cairn.text('vault', 'set', 'prod-db', 'DB_USER=other')
    expect(await cairn.json('vault', 'get', 'prod-db')).toEqual([
      {
        name: 'prod-db',
        version: 2,
        fields: { DB_PASSWORD: 'p w', DB_URL: 'postgres://db\n', DB_USER: 'other' },
      },
    ])
    expect(await cairn.text('vault', 'get', 'prod-db/DB_USER', '--version', '1')).toBe('app')
    const [info] = await cairn.json<{ name: string; fields: string[] }>('vault', 'ls')
    expect([info?.name, ...(info?.fields ?? [])]).toEqual([
      'prod-db',
      'DB_PASSWORD',
      'DB_URL',
      'DB_USER',
    ])
  })

  it('put replaces it with the files of a directory, from a script too', async () => {
    const directory = join(cairn.home(), 'fields')
    mkdirSync(directory)
    writeFileSync(join(directory, 'KEY'), Buffer.from([0, 1, 254]))
    await cairn.text('vault', 'put', '/n/vault/files', '--from', directory)
    const { stdout } = await cairn.run(['vault', 'get', 'files/KEY'])
    expect([...stdout]).toEqual([0, 1, 254])
    expect(await cairn.error('vault', 'put', 'files', 'A=1', '--if-version', '0')).toMatchObject({
      code: 'precondition_failed',
    })
    expect((await cairn.json('vault', 'history', 'files')).length).toBe(1)
    await cairn.text('vault', 'rm', 'files')
    expect(await cairn.error('vault', 'get', 'files')).toMatchObject({
      code: 'secret_missing',
      exit: 4,
    })
  })

  it('exec gives the fields to the command alone, without the keys of Cairn, and ends as it ends', async () => {
    const print = 'process.exitCode = 7; process.stdout.write(JSON.stringify(process.env))'
    const args = ['vault', 'exec', '--secret', 'prod-db', '--env', 'PGURL=prod-db/DB_URL', '--']
    const env = { CAIRN_SERVER: server.url, CAIRN_API_KEY: server.apiKey, CAIRN_WORKSPACE: 'w' }
    const { code, stdout } = await cairn.run([...args, process.execPath, '-e', print], { env })
    expect(code).toBe(7)
    const seen = JSON.parse(stdout.toString()) as Record<string, string>
    expect(seen).toMatchObject({
      DB_USER: 'other',
      PGURL: 'postgres://db\n',
      CAIRN_SERVER: server.url,
    })
    expect(Object.keys(seen)).not.toContain('CAIRN_API_KEY')
    const killed = await cairn.run(['vault', 'with', 'prod-db', '--', 'sh', '-c', 'kill -9 $$'])
    expect(killed.code).toBe(137)
  })

  it('exec refuses a name that is none, and runs nothing', async () => {
    for (const field of ['with-dash', 'LD_PRELOAD']) {
      await cairn.text('vault', 'put', 'odd', `${field}=1`, 'OK=2')
      const ran = await cairn.run(['vault', 'exec', '--secret', 'odd', '--', 'echo', 'ran'])
      expect({ code: ran.code, out: ran.stdout.toString() }).toEqual({ code: 2, out: '' })
      expect(ran.stderr).toContain(`cannot give ${field} to the command`)
    }
  })

  it('a name that makes programs load code is taken only where it is named', async () => {
    await cairn.text('vault', 'put', 'loads', 'BASH_ENV=/nowhere', 'OK=2')
    const print = ['--', 'sh', '-c', 'echo $BASH_ENV']
    for (const named of ['--secret=loads/BASH_ENV', '--env=BASH_ENV=loads/BASH_ENV'])
      expect(await cairn.text('vault', 'exec', named, ...print)).toBe('/nowhere\n')
    expect((await cairn.run(['vault', 'get', 'loads', '--env'])).code).toBe(2)
  })

  it('get --env is evaluated by a shell to what the secret holds', async () => {
    const hostile = `it's $(touch hit) \`id\` '\\'' "x"\n!; exit 9`
    await cairn.text('vault', 'put', 'hostile', `A=${hostile}`, 'B=plain')
    const lines = await cairn.text('vault', 'get', 'hostile', '--env')
    const script = `${lines}\nprintf '%s\\0%s' "$A" "$B"`
    expect(execFileSync('sh', ['-c', script]).toString()).toBe(`${hostile}\0plain`)
    await cairn.text('vault', 'put', 'hostile', 'with-dash=1')
    expect((await cairn.run(['vault', 'get', 'hostile', '--env'])).code).toBe(2)
  })

  it('a grant of a secret that is not there is refused, and one of a pattern is noted', async () => {
    const more = ['--agent', 'bob', '--ttl', '1h']
    for (const name of ['prod-bd', 'prod-db/DB_ULR'])
      expect(await cairn.error('vault', 'grant', name, ...more)).toMatchObject({
        code: 'secret_missing',
      })
    for (const words of [['later-*'], ['new-db', '--perm', 'write']]) {
      const { code, stderr } = await cairn.run(['vault', 'grant', ...words, ...more])
      expect([code, stderr]).toEqual([0, `note: nothing matches ${words[0]} yet\n`])
    }
  })

  it('the grant of the seed document, used by its agent, revoked, and told of by the audit', async () => {
    const scope = '/n/vault/prod-db/DB_URL'
    const words = ['vault', 'grant', scope, '--agent', 'alice', '--perm', 'read', '--ttl', '1h']
    const [grant] = await cairn.json<{ id: string; token: string }>(...words)
    const env = with_(grant!.token)
    expect((await cairn.run(['vault', 'get', scope], { env })).stdout.toString()).toBe(
      'postgres://db\n',
    )
    expect((await cairn.run(['vault', 'get', 'prod-db/DB_USER'], { env })).code).toBe(4)
    expect((await cairn.run(['vault', 'set', 'prod-db', 'DB_URL=x'], { env })).code).toBe(8)
    expect((await cairn.run(['fs', 'ls', ':/'], { env })).code).toBe(3)
    await cairn.text('vault', 'revoke', grant!.id)
    expect((await cairn.run(['vault', 'get', scope], { env })).code).toBe(3)
    const audit = await cairn.json<{ action: string; outcome: string }>(
      'vault',
      'audit',
      '--agent',
      'alice',
    )
    expect(audit.map(({ action, outcome }) => `${action} ${outcome}`)).toEqual([
      'use revoked grant denied',
      'set denied',
      'read denied',
      'read ok',
    ])
  })
})
