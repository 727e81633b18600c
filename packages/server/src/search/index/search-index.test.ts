import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { IssuedToken } from '@cairn/protocol'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { withTemporaryDirectory } from '../../conformance/temporary-directory.ts'
import { serve, type Serving } from '../../serve.ts'
import { type Event, useGrep } from '../../../test/grep-fixture.ts'
import { secret } from '../../../test/memory-door.ts'
import { hashesOf, holdsAll, signatureOf } from './signature.ts'

const { app, ask, index, makeFiles } = useGrep()

const headers = { authorization: `Bearer ${secret}` }

async function post<T>(url: string, payload: object): Promise<T> {
  const answer = await app.inject({ method: 'POST', url, headers, payload })
  expect(answer.statusCode, answer.body).toBeLessThan(300)
  return answer.json<T>()
}

const linesOf = (events: readonly Event[]): readonly string[] =>
  events
    .filter(({ type }) => type === 'match')
    .map(({ data }) => `${data.path.text}:${data.line_number}`)

const searchesOf = (events: readonly Event[]): number => events.at(-1)!.data.stats.searches

/** Thirty, one of them with the word. */
const filesToIndex = Object.fromEntries(
  Array.from({ length: 30 }, (_, i) => [
    `d${i % 3}/f${i}`,
    `file ${i}\n${i === 7 ? 'needle' : 'straw'} of ${i}\n`.repeat(10),
  ]),
)

async function makeIndexed(): Promise<string> {
  const root = await makeFiles(filesToIndex)
  await ask(root, { pattern: 'needle' })
  await index.settled()
  return root
}

function segmentsIn(data: string): readonly string[] {
  const names = readdirSync(join(data, 'search'), { recursive: true, encoding: 'utf8' })
  const found = names.filter((name) => name.endsWith('.segment'))
  expect(found.length).toBeGreaterThan(0)
  return found.map((name) => join(data, 'search', name))
}

/** A whole server on a directory. */
class Site {
  readonly #serving: Serving
  readonly #key: string

  private constructor(serving: Serving, key: string) {
    this.#serving = serving
    this.#key = key
  }

  static async start(data: string): Promise<Site> {
    const serving = await serve({ data, listen: '127.0.0.1:0' })
    return new Site(
      serving,
      serving.ownerKey ?? readFileSync(join(data, 'owner-key'), 'utf8').trim(),
    )
  }

  async makeFiles(): Promise<void> {
    await this.#call('POST', '/v1/workspaces', { name: 'w' })
    const operations = Object.entries(filesToIndex).map(([path, text]) => ({
      op: 'write',
      path: `/${path}`,
      text,
      parents: true,
    }))
    await this.#call('POST', '/v1/workspaces/w/batch', { operations })
  }

  async grep(): Promise<{ readonly lines: number; readonly searches: number }> {
    const text = await this.#call('GET', '/v1/workspaces/w/grep?pattern=needle')
    const events = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Event)
    return { lines: linesOf(events).length, searches: searchesOf(events) }
  }

  /** The answer once a search need not read every file. */
  async indexed(): Promise<{ readonly lines: number; readonly searches: number }> {
    return vi.waitUntil(
      async () => {
        const found = await this.grep()
        return found.searches < 30 && found
      },
      { timeout: 30_000 },
    )
  }

  async #call(method: string, path: string, body?: object): Promise<string> {
    const answer = await fetch(`${this.#serving.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#key}` },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const text = await answer.text()
    expect(answer.status, text).toBeLessThan(300)
    return text
  }

  close(): Promise<void> {
    return this.#serving.close()
  }
}

describe('signatures', () => {
  it('never deny a trigram that a content has', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 3000 }), fc.nat(), fc.nat(20), (bytes, from, more) => {
        const start = from % (bytes.length + 1)
        const text = Buffer.from(bytes.subarray(start, start + 3 + more)).toString('latin1')
        const signature = signatureOf(bytes)
        if (signature.kind !== 'bits') return
        const { bits } = signature
        expect(holdsAll(bits, 0, bits.length, hashesOf(text))).toBe(true)
        const upper = text.replaceAll(/[a-z]/g, (letter) => letter.toUpperCase())
        expect(holdsAll(bits, 0, bits.length, hashesOf(upper))).toBe(true)
      }),
    )
  })

  it('deny nearly every word that is not there', () => {
    const signature = signatureOf(
      Buffer.from('the quick brown fox jumps over the lazy dog '.repeat(9)),
    )
    if (signature.kind !== 'bits') throw new Error('text has a signature')
    const words = Array.from({ length: 1000 }, (_, i) => `zq${i * 7919}vx`)
    const { bits } = signature
    const wrong = words.filter((word) => holdsAll(bits, 0, bits.length, hashesOf(word)))
    expect(wrong.length).toBeLessThan(20)
  })
})

describe('a search with the index', () => {
  it('reads only files that may have a match', async () => {
    const root = await makeIndexed()
    const events = await ask(root, { pattern: 'needle of [0-9]' })
    expect(new Set(linesOf(events).map((line) => line.split(':')[0]))).toEqual(new Set(['/d1/f7']))
    expect(searchesOf(events)).toBeLessThan(5)
  })

  it('finds what was written since, moved, and not what was removed', async () => {
    const root = await makeIndexed()
    const operations = [
      { op: 'write', path: '/d0/new', text: 'a needle\n' },
      { op: 'move', path: '/d1', to: '/e' },
      { op: 'remove', path: '/d2', recursive: true },
      { op: 'write', path: '/e/f7', text: 'gone\n' },
      { op: 'write', path: '/e/f1', text: 'NEEDLE and needle\n' },
    ]
    await post(`${root}/batch`, { operations })
    expect(linesOf(await ask(root, { pattern: 'needle' }))).toEqual(['/d0/new:1', '/e/f1:1'])
  })

  it('random changes in a layer and at a checkpoint: the lines of a search without an index', async () => {
    const path = fc.constantFrom('/d0/f0', '/d0/f3', '/d1/f7', '/d1', '/d2/f2', '/x', '/d1/.ignore')
    const change = fc.oneof(
      fc.record({
        op: fc.constant('write'),
        path,
        text: fc.constantFrom('needle\n', 'straw\n', 'f7\n', ''),
      }),
      fc.record({ op: fc.constant('remove'), path, recursive: fc.constant(true) }),
      fc.record({ op: fc.constant('move'), path, to: fc.constantFrom('/d0/to', '/to') }),
      fc.record({ op: fc.constant('link'), path, to: fc.constantFrom('/d0/link', '/link') }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 6 }), async (changes) => {
        const root = await makeIndexed()
        await post(`${root}/layers`, { path: '/', name: 'a' })
        for (const operation of changes)
          for (const layer of ['', '?layer=a'])
            await app.inject({
              method: 'POST',
              url: `${root}/batch${layer}`,
              headers,
              payload: { operations: [operation] },
            })
        for (const layer of ['main', 'a']) {
          // No three letters of it are known, so every file is read.
          const all = await ask(root, { pattern: 'n.{1,2}d.e', layer })
          const found = await ask(root, { pattern: 'needle', layer })
          expect(linesOf(found)).toEqual(linesOf(all))
        }
      }),
      { numRuns: 10 * Number(process.env['CAIRN_RUNS'] ?? 1) },
    )
  })

  it('a damaged, cut or deleted index changes no answer', async () => {
    await withTemporaryDirectory(async (data) => {
      const damages: readonly ((path: string) => void)[] = [
        (path) =>
          writeFileSync(
            path,
            readFileSync(path).map((byte, at) => (at > 900 ? 0 : byte)),
          ),
        (path) => writeFileSync(path, readFileSync(path).subarray(0, 100)),
        (path) => rmSync(path),
      ]
      const first = await Site.start(data)
      await first.makeFiles()
      const wanted = await first.indexed()
      await first.close()
      expect(wanted).toEqual({ lines: 10, searches: 1 })
      for (const damage of damages) {
        for (const path of segmentsIn(data)) damage(path)
        const site = await Site.start(data)
        expect((await site.grep()).lines).toBe(10)
        expect(await site.indexed()).toEqual(wanted)
        await site.close()
      }
    })
  })

  it('forgets contents that no searched tree has', async () => {
    const root = await makeIndexed()
    const before = await index.status()
    await post(`${root}/batch`, { operations: [{ op: 'remove', path: '/d1', recursive: true }] })
    await ask(root, { pattern: 'needle' })
    await index.settled()
    await index.tidy()
    const after = await index.status()
    expect(before.contents - after.contents).toBeGreaterThanOrEqual(10)
    expect(linesOf(await ask(root, { pattern: 'straw of 12' })).length).toBe(10)
  })
})

describe('a token and the index', () => {
  it('gets the same counts with and without it, whatever is out of its sight', async () => {
    const own = Object.fromEntries(
      Array.from({ length: 20 }, (_, i) => [`own/f${i}`, `straw ${i}\n`.repeat(20)]),
    )
    const answers: unknown[] = []
    for (const hidden of [{}, { 'hidden/f1': 'straw 1\n'.repeat(20), 'hidden/x': 'needle\n' }]) {
      const root = await makeFiles({ ...own, ...hidden })
      const allow = [{ path: '/own', operations: ['read', 'list', 'search'] }]
      const issued = await post<IssuedToken>(`${root}/tokens`, { name: 't', ttlMs: 60_000, allow })
      for (let round = 0; round < 2; round++) {
        const events = await ask(root, { pattern: 'needle' }, issued.secret)
        const { elapsed: _, ...stats } = events.at(-1)!.data.stats
        answers.push(stats)
        await index.settled()
      }
    }
    for (const answer of answers) expect(answer).toEqual(answers[0])
    expect(answers[0]).toMatchObject({ searches: 20, matched_lines: 0 })
  })
})
