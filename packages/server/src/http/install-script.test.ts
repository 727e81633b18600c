// The script that a server hands out, run by real shells. The client is a stand-in that prints its version: what is tested
// is which file is taken, and that no other bytes are installed.
import { createHash } from 'node:crypto'
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ClientFiles } from './client-files.ts'
import { installScript, installUrl } from './install-script.ts'
import { serve } from '../serve.ts'

const shells = ['dash', 'bash'].filter((shell) => existsSync(`/bin/${shell}`))
const client = '#!/bin/sh\necho 9.9.9\n'
const packed = gzipSync(client)
const machine = `cairn-linux-${process.arch}.gz`

function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), 'cairn-install-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** As `curl … | sh` runs it: from its input, on a machine without Node. */
function run(shell: string, script: string, ...words: string[]): Promise<Ran> {
  const env = { HOME: '/nonexistent', PATH: '/usr/bin:/bin' }
  const child = spawn(`/bin/${shell}`, ['-s', '--', ...words], { env })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (data: Buffer) => (stdout += data.toString()))
  child.stderr.on('data', (data: Buffer) => (stderr += data.toString()))
  child.stdin.end(script)
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr })))
}

async function listen(handle: RequestListener): Promise<string> {
  const server = createServer(handle)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function openServer(): Promise<{ readonly url: string; readonly path: string }> {
  const data = temporary()
  const path = join(data, machine)
  writeFileSync(path, packed)
  const server = await serve({
    data,
    listen: '127.0.0.1:0',
    clientFiles: new Map([[machine, path]]),
  })
  onTestFinished(() => server.close())
  return { url: server.url, path }
}

const fetchScript = async (url: string): Promise<string> => (await fetch(`${url}/install`)).text()

describe.each(shells)('the install script in %s', (shell) => {
  it('installs the client for this machine, and says what comes next', async () => {
    const { url } = await openServer()
    const to = temporary()
    const ran = await run(shell, await fetchScript(url), '--file', machine, '--to', to)
    expect(ran).toMatchObject({
      code: 0,
      stdout: `installed cairn 9.9.9 as ${to}/cairn\nput it into your PATH: export PATH="${to}:$PATH"\nnext: cairn ctx add --name NAME --server ${url} --api-key-file FILE\n`,
    })
    expect(readFileSync(join(to, 'cairn'), 'utf8')).toBe(client)
  })

  it('installs nothing when the file was changed on the way', async () => {
    const { url, path } = await openServer()
    const script = await fetchScript(url)
    writeFileSync(path, gzipSync('#!/bin/sh\necho evil\n'))
    const to = temporary()
    const before = join(to, 'cairn')
    writeFileSync(before, 'the one before')
    const ran = await run(shell, script, '--file', machine, '--to', to)
    expect(ran.code).toBe(1)
    expect(ran.stderr).toMatch(/is not what it should be: its SHA-256 is [0-9a-f]{64}/)
    expect(readFileSync(before, 'utf8')).toBe('the one before')
  })

  it('asks for a hash over plain HTTP, and counts no other', async () => {
    const files = [{ name: machine, sha256: createHash('sha256').update(packed).digest('hex') }]
    const url = await listen((_request, response) => response.end(packed))
    // A name that is not loopback's, whose requests a proxy brings to the server.
    const script = installScript({ url: 'http://cairn.example', files })
    const to = temporary()
    const asked = await run(shell, script, '--file', machine, '--to', to)
    expect(asked.code).toBe(1)
    expect(asked.stderr).toContain('does not speak TLS')
    expect(asked.stderr).toContain('--sha256 HASH')
    const proxied = `export http_proxy=${url}\n${script}`
    const wrong = await run(
      shell,
      proxied,
      '--file',
      machine,
      '--to',
      to,
      '--sha256',
      'a'.repeat(64),
    )
    expect(wrong.code).toBe(1)
    expect(wrong.stderr).toContain('Nothing was installed')
    expect(existsSync(join(to, 'cairn'))).toBe(false)
    const words = ['--file', machine, '--to', to, '--sha256', files[0]!.sha256]
    expect(await run(shell, proxied, ...words)).toMatchObject({ code: 0 })
  })

  it('the install script does nothing when half of it arrived', async () => {
    const { url } = await openServer()
    const script = await fetchScript(url)
    const to = temporary()
    const ran = await run(shell, script.slice(0, -20), '--file', machine, '--to', to)
    expect(existsSync(join(to, 'cairn'))).toBe(false)
    expect(ran.stdout).toBe('')
  })
})

it('takes no host that a shell would read as more than a host', () => {
  expect(installUrl('http', "a'; rm -rf /; '")).toBeUndefined()
  expect(installUrl('http', '$(reboot)')).toBeUndefined()
  expect(installUrl('https', 'cairn.example:7070')).toBe('https://cairn.example:7070')
})

it('hashes a client again when it was replaced', async () => {
  const path = join(temporary(), 'client')
  writeFileSync(path, 'one')
  const clients = new ClientFiles(new Map([['cairn-single', path]]))
  const [before] = await clients.list()
  writeFileSync(path, 'another')
  chmodSync(path, 0o644)
  const [after] = await clients.list()
  const sha256 = createHash('sha256').update('another').digest('hex')
  expect([before?.sha256 === sha256, after?.sha256]).toEqual([false, sha256])
})

it('names no file outside its clients, and says how to add some', async () => {
  const server = await serve({ data: temporary(), listen: '127.0.0.1:0' })
  onTestFinished(() => server.close())
  for (const path of ['/install', '/install/owner-key', '/install/..%2Fowner-key']) {
    const answer = await fetch(`${server.url}${path}`)
    expect([answer.status, await answer.text()]).toEqual([
      404,
      expect.stringContaining('"not_found"'),
    ])
  }
})
