import type { Blame } from '@cairn/protocol'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type MemoryServer, memoryServers } from '../testing/memory-servers.ts'

/**
 * Every line says who wrote it, and no two lines are equal: so blame must say what the line says, whatever way the file
 * took.
 */
const step = fc.record({
  by: fc.constantFrom('a', 'b', 'c'),
  how: fc.constantFrom('put', 'rename', 'append', 'move', 'layer', 'elsewhere'),
  at: fc.nat(20),
  remove: fc.nat(3),
  insert: fc.integer({ min: 1, max: 3 }),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

class Play {
  readonly #server: MemoryServer
  #path = '/f0'
  #lines: string[] = []
  #count = 0

  constructor(server: MemoryServer) {
    this.#server = server
  }

  async take({ by, how, at, remove, insert }: Step): Promise<void> {
    const added = Array.from({ length: insert }, () => `${by} ${++this.#count}`)
    if (how === 'elsewhere') return this.#ask(by, 'PUT', '/files/other', added.join('\n'))
    if (how === 'move') {
      if (this.#lines.length === 0) return
      const to = `/d${++this.#count}/f`
      await this.#ask(by, 'POST', `/files${this.#path}?move`, { to, parents: true })
      this.#path = to
      return
    }
    const place = how === 'append' ? this.#lines.length : Math.min(at, this.#lines.length)
    this.#lines.splice(place, how === 'append' ? 0 : remove, ...added)
    await this.#write(by, how, added)
  }

  async #write(by: string, how: Step['how'], added: readonly string[]): Promise<void> {
    const text = this.#lines.map((line) => `${line}\n`).join('')
    const file = `/files${this.#path}`
    if (how === 'append')
      return this.#ask(by, 'POST', `${file}?append`, added.map((l) => `${l}\n`).join(''))
    if (how === 'put') return this.#ask(by, 'PUT', file, text)
    if (how === 'rename') {
      await this.#ask(by, 'PUT', '/files/.tmp', text)
      return this.#ask(by, 'POST', '/files/.tmp?move', { to: this.#path, parents: true })
    }
    const name = `layer-${++this.#count}`
    await this.#ask(by, 'POST', '/layers', { name })
    await this.#ask(by, 'PUT', `${file}?layer=${name}`, text)
    await this.#ask(by, 'POST', `/layers/${name}/commit`, {})
  }

  async check(): Promise<void> {
    if (this.#lines.length === 0) return
    const { json } = await this.#server.call<Blame>('GET', `/w/blame?path=${this.#path}`)
    const told = json.parts.flatMap(({ text = '', origin }) =>
      text
        .split('\n')
        .slice(0, -1)
        .map((line) => `${json.origins[origin ?? -1]?.toolCall}: ${line}`),
    )
    expect(told).toEqual(this.#lines.map((line) => `${line[0]}: ${line}`))
  }

  async #ask(
    by: string,
    method: 'PUT' | 'POST',
    url: string,
    body: string | object,
  ): Promise<void> {
    const answer = await this.#server.call(method, `/w${url}`, body, { 'x-cairn-tool-call': by })
    if (answer.status >= 300) throw new Error(`${method} ${url}: ${answer.body}`)
  }
}

it('blame says of each line who wrote it, whatever way the file took', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
      const server = memoryServers().open()
      await server.call('POST', '', { name: 'w' })
      const play = new Play(server)
      for (const each of steps) await play.take(each)
      await play.check()
    }),
    { numRuns: 15 },
  )
}, 120_000)
