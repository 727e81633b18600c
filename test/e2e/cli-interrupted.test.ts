// Ctrl-C in the middle of a copy, and going on with it. The server is a stub that stops where the test wants it.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { ChildProcess } from 'node:child_process'
import { expect, it, onTestFinished, vi } from 'vitest'
import { useCairn } from './run-cairn.ts'
import { keyFile } from '@cairn/server/testing/key-file'

const cairn = useCairn()

type Handler = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void

/** Gives the options that lead to it. */
async function startStub(handle: Handler): Promise<string[]> {
  const server = createServer((request, response) => {
    void buffer(request).then((body) => handle(request, response, body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return ['--server', `http://127.0.0.1:${port}`, '--api-key-file', keyFile('k'), '-w', 'w']
}

function exitOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.on('close', resolve))
}

const until = (condition: () => boolean): Promise<unknown> =>
  vi.waitUntil(condition, { timeout: 50_000, interval: 20 })

function directory(name: string): string {
  const path = join(cairn.home(), name)
  mkdirSync(path)
  return path
}

const sizes = (path: string): number[] =>
  readdirSync(path).map((name) => statSync(join(path, name)).size)

/** A file of ten bytes, of which the first answer sends five and then waits. */
async function startDownloads(ranges: (string | undefined)[]): Promise<string[]> {
  const stat = { path: '/a', kind: 'file', size: 10, mode: '0644', etag: '"e"' }
  return startStub((request, response) => {
    if (request.url?.includes('stat=')) return void response.end(JSON.stringify(stat))
    ranges.push(request.headers.range)
    if (request.headers.range === undefined)
      response.writeHead(200, { etag: '"e"', 'content-length': '10' }).write('01234')
    else response.writeHead(206, { etag: '"e"', 'content-range': 'bytes 5-9/10' }).end('56789')
  })
}

it('a download ends with 130 and leaves nothing behind', async () => {
  const where = await startDownloads([])
  const target = directory('downloads')
  const child = cairn.start(['fs', 'cp', ':/a', join(target, 'a'), ...where])
  await until(() => sizes(target).includes(5))
  child.kill('SIGINT')
  expect(await exitOf(child)).toBe(130)
  expect(readdirSync(target)).toEqual([])
})

it('SIGTERM: 143', async () => {
  const where = await startDownloads([])
  const target = directory('terminated')
  const child = cairn.start(['fs', 'cp', ':/a', join(target, 'a'), ...where])
  await until(() => sizes(target).includes(5))
  child.kill('SIGTERM')
  expect(await exitOf(child)).toBe(143)
  expect(readdirSync(target)).toEqual([])
})

it('a download with --resume keeps what is there, and the next one asks for the rest', async () => {
  const ranges: (string | undefined)[] = []
  const where = await startDownloads(ranges)
  const target = directory('resumed')
  const copy = ['fs', 'cp', '--resume', ':/a', join(target, 'a'), ...where]
  const child = cairn.start(copy)
  await until(() => sizes(target).includes(5))
  child.kill('SIGINT')
  expect(await exitOf(child)).toBe(130)
  expect(sizes(target)).toEqual([5])
  await cairn.text(...copy)
  expect(ranges).toEqual([undefined, 'bytes=5-'])
  expect(readdirSync(target)).toEqual(['a'])
  expect(readFileSync(join(target, 'a'), 'utf8')).toBe('0123456789')
})

const blockBytes = 1 << 20

interface UploadStub {
  readonly where: string[]
  readonly blocks: Map<number, Buffer>
  readonly requests: string[]
  /** Answers every block from now on; until then only block 0. */
  readonly release: () => void
}

async function startUploads(): Promise<UploadStub> {
  const blocks = new Map<number, Buffer>()
  const requests: string[] = []
  let isReleased = false
  const where = await startStub((request, response, body) => {
    const path = request.url!.replace('/v1/workspaces/w/', '')
    requests.push(`${request.method} ${path}`)
    const number = /blocks\/(\d+)/.exec(path)?.[1]
    if (number !== undefined) {
      if (number !== '0' && !isReleased) return
      blocks.set(Number(number), body)
      return void response.writeHead(204).end()
    }
    if (path.includes('stat=')) {
      const error = {
        code: 'file_system',
        errno: 'ENOENT',
        what: 'read',
        reason: 'no such file',
        hint: '',
      }
      return void response.writeHead(404).end(JSON.stringify({ error }))
    }
    const upload = { id: 'u1', blockBytes, blocks: [...blocks.keys()] }
    response.end(JSON.stringify(path.includes('complete') ? { seq: 1 } : upload))
  })
  return { where, blocks, requests, release: () => void (isReleased = true) }
}

it('an upload ends with 130; --resume sends what is missing, unless the file has changed', async () => {
  const source = join(cairn.home(), 'big')
  const bytes = randomBytes((9 << 20) + 1)
  writeFileSync(source, bytes)
  const { where, blocks, requests, release } = await startUploads()
  const copy = ['fs', 'cp', '--resume', source, ':/big', ...where]
  const child = cairn.start(copy)
  const records = join(cairn.home(), '.cairn/uploads')
  await until(() => blocks.size > 0)
  child.kill('SIGINT')
  expect(await exitOf(child)).toBe(130)
  expect(readdirSync(records)).toHaveLength(1)

  release()
  requests.length = 0
  await cairn.text(...copy)
  expect(requests).toContain('GET uploads/u1')
  expect(requests.filter((request) => request.includes('/blocks/'))).toHaveLength(9)
  expect(Buffer.concat(Array.from({ length: 10 }, (_, n) => blocks.get(n)!)).equals(bytes)).toBe(
    true,
  )
  expect(readdirSync(records)).toEqual([])

  utimesSync(source, new Date(), new Date())
  requests.length = 0
  await cairn.text(...copy)
  expect(requests).toContain('POST uploads')
})

it('a command that waits for its standard input ends too, and writes nothing', async () => {
  const { where, blocks, requests, release } = await startUploads()
  release()
  const child = cairn.start(['fs', 'cp', '-', ':/a', ...where])
  child.stdin!.write(Buffer.alloc(10 << 20))
  await until(() => blocks.size >= 9)
  child.kill('SIGINT')
  expect(await exitOf(child)).toBe(130)
  expect(requests.filter((request) => request.includes('complete'))).toEqual([])
})
