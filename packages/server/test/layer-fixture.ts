import type { ApiErrorBody, LayerInfo, LayerStatus } from '@cairn/protocol'
import { expect } from 'vitest'
import type { Clock } from '../src/ports/clock.ts'
import {
  type Answer,
  memoryServers,
  type MemoryServer,
  type MemoryServers,
} from '../src/testing/memory-servers.ts'

/** A workspace `w` with two files, on two servers that share their stores, and short words for what tests do to it. */
export class LayerFixture {
  readonly servers: MemoryServers
  readonly server: MemoryServer
  readonly other: MemoryServer

  constructor(clock?: Clock) {
    this.servers = memoryServers(clock)
    this.server = this.servers.open()
    this.other = this.servers.open()
  }

  async fill(): Promise<void> {
    await this.server.call('POST', '', { name: 'w' })
    await this.write('/repo/a.txt', 'one\n')
    await this.write('/repo/b.txt', 'bee\n')
  }

  write(path: string, text: string, layer?: string): Promise<Answer<ApiErrorBody>> {
    const query = layer === undefined ? '' : `?layer=${encodeURIComponent(layer)}`
    return this.server.call('PUT', `/w/files${path}${query}`, text)
  }

  /** Undefined when there is nothing to read. */
  async read(path: string, query = ''): Promise<string | undefined> {
    const { status, body } = await this.server.call('GET', `/w/files${path}?${query}`)
    return status === 200 ? body : undefined
  }

  post<T>(path: string, body: object = {}, key?: string): Promise<Answer<T>> {
    const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key }
    return this.server.call<T>('POST', `/w/layers${path}`, body, headers)
  }

  create(body: object = {}): Promise<LayerInfo> {
    return ok(this.post<LayerInfo>('', { path: '/repo', ...body }))
  }

  status(layer: string): Promise<LayerStatus> {
    return ok(this.server.call<LayerStatus>('GET', `/w/layers/${layer}`))
  }
}

/** What it answers, after it has succeeded. */
export async function ok<T>(answer: Promise<Answer<T>>): Promise<T> {
  const { status, body, json } = await answer
  expect(status, body).toBeLessThan(300)
  return json
}

/** The error, after it has failed. */
export async function refused(answer: Promise<Answer<unknown>>): Promise<ApiErrorBody['error']> {
  const { json, body } = await answer
  expect(json, body).toHaveProperty('error')
  return (json as ApiErrorBody).error
}
