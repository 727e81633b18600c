import { httpStatusOf } from '@cairn/protocol'
import type { Serving } from '@cairn/server'
import { expect } from 'vitest'

export interface Outcome {
  readonly status: number
  /** Undefined when it was done. */
  readonly code: string | undefined
  readonly message: string
}

/** Writes through a server, remembers what the server has acknowledged, and asks for it again. */
export class Witness {
  readonly acknowledged = new Map<string, string>()
  readonly #key: string
  #url: string

  private constructor(url: string, key: string) {
    this.#url = url
    this.#key = key
  }

  /** On a server that has just made its key; makes a workspace. */
  static async of({ url, ownerKey }: Serving): Promise<Witness> {
    const witness = new Witness(url, ownerKey!)
    expect((await witness.ask('POST', '', '{"name":"w"}')).status).toBe(201)
    return witness
  }

  /** The server was started again. */
  follow({ url }: Serving): void {
    this.#url = url
  }

  ask(method: string, path: string, body?: string): Promise<Response> {
    return fetch(`${this.#url}/v1/workspaces${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#key}` },
      ...(body === undefined ? {} : { body }),
    })
  }

  /** A file of so many bytes that nothing can compress. A refusal must be a registered one with its status. */
  async write(name: string, bytes: number): Promise<Outcome> {
    const text = noise(name, bytes)
    const answer = await this.ask('PUT', `/w/files/${name}`, text)
    if (answer.ok) {
      this.acknowledged.set(name, text)
      await answer.arrayBuffer()
      return { status: answer.status, code: undefined, message: '' }
    }
    const { error } = (await answer.json()) as { error: { code: string; message: string } }
    expect([error.code, answer.status]).toEqual([error.code, httpStatusOf(error.code)])
    return { status: answer.status, code: error.code, message: error.message }
  }

  /** Writes until one is refused, and gives the refusal. */
  async writeUntilRefused(name: string, bytes: number): Promise<Outcome> {
    for (let i = 0; i < 10_000; i++) {
      const outcome = await this.write(`${name}-${i}`, bytes)
      if (outcome.code !== undefined) return outcome
    }
    throw new Error('nothing was refused')
  }

  /** Everything acknowledged can be read. */
  async check(): Promise<void> {
    expect(this.acknowledged.size).toBeGreaterThan(0)
    for (const [name, text] of this.acknowledged) {
      const answer = await this.ask('GET', `/w/files/${name}`)
      const read = await answer.text()
      expect([name, answer.status, read === text]).toEqual([name, 200, true])
    }
  }
}

function noise(seed: string, bytes: number): string {
  let state = Buffer.from(seed).reduce((hash, byte) => (hash * 31 + byte) >>> 0, 7)
  const digits = Array.from({ length: bytes }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return (state >>> 26).toString(36).slice(-1)
  })
  return digits.join('')
}
