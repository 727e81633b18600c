import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type ApiErrorBody,
  type Errno,
  errnoTable,
  errorTable,
  httpStatusOf,
} from '@cairn/protocol'
import { FailedAttempts, serve, type Serving } from '@cairn/server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hostileRequest, type HostileRequest } from './hostile-requests.ts'
import { type RawAnswer, sendRaw } from './raw-http.ts'

/** For longer runs: `CAIRN_RUNS=50 npx vitest run test/faults/http-door.test.ts`. */
const count = 1500 * Number(process.env['CAIRN_RUNS'] ?? 1)
const atOnce = 16

let data: string
let serving: Serving
let port: number
let key: string
const logged: string[] = []

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'cairn-door-'))
  const log = { write: (line: string) => void logged.push(line) }
  // A second passes at each look: no client here is slowed down.
  let nowMs = 0
  const attempts = new FailedAttempts(() => (nowMs += 1000))
  serving = await serve({ data, listen: '127.0.0.1:0', log, attempts })
  port = Number(new URL(serving.url).port)
  key = serving.ownerKey!
  await ask('POST', '', '{"name":"w"}')
  await ask('PUT', '/w/files/a', 'text')
  await ask('POST', '/w/files/d?mkdir', '{}')
})

afterAll(async () => {
  await serving?.close()
  await rm(data, { recursive: true })
})

function ask(method: string, path: string, body: string): Promise<Response> {
  const headers = { authorization: `Bearer ${key}` }
  return fetch(`${serving.url}/v1/workspaces${path}`, { method, headers, body })
}

/** Undefined when the answer is as it should be. */
function faultOf(
  { method, isWhole }: HostileRequest,
  answer: RawAnswer | undefined,
): string | undefined {
  if (!answer) return isWhole ? 'no answer' : undefined
  const { status, body } = answer
  if (status < 400 || status === 416) return undefined
  // Bodies are left out where HTTP has none.
  if (method === 'HEAD' && body.length === 0) return status < 500 ? undefined : `status ${status}`
  return faultOfError(status, body.toString())
}

function faultOfError(status: number, text: string): string | undefined {
  let error: Partial<ApiErrorBody['error']>
  try {
    ;({ error } = JSON.parse(text) as ApiErrorBody)
  } catch {
    return `status ${status} without JSON: ${text.slice(0, 200)}`
  }
  const { code, message, what, reason, hint, retry, requestId, errno } = error
  if (code === undefined || !Object.hasOwn(errorTable, code)) return `the code ${code}`
  if (status >= 500) return `status ${status}: ${message}`
  const isOfErrno = code === 'file_system' && Object.hasOwn(errnoTable, errno as Errno)
  if (!isOfErrno && httpStatusOf(code) !== status) return `${code} with status ${status}`
  const parts = [what, reason, hint, retry, requestId]
  const isComplete = parts.every((part) => typeof part === 'string' && part !== '')
  return isComplete && message === `cannot ${what}: ${reason}. ${hint}`
    ? undefined
    : `${code} lacks something: ${text}`
}

interface Outcome {
  readonly faults: string[]
  readonly statuses: Map<number, number>
}

async function tryAll(seeds: readonly number[]): Promise<Outcome> {
  const faults: string[] = []
  const statuses = new Map<number, number>()
  const left = [...seeds]
  const work = async (): Promise<void> => {
    for (let seed = left.pop(); seed !== undefined; seed = left.pop()) {
      const request = hostileRequest(seed, key)
      const answer = await sendRaw(port, request)
      const status = answer?.status ?? 0
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      const fault = faultOf(request, answer)
      const sent = Buffer.concat(request.parts).toString('latin1').slice(0, 400)
      if (fault !== undefined) faults.push(`seed ${seed}: ${fault}\n${sent}`)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return { faults, statuses }
}

describe('the HTTP door', () => {
  it('answers whatever is sent with a registered error or success, and never with 500', async () => {
    const seeds = Array.from({ length: count }, (_, i) => i + 1)
    const { faults, statuses } = await tryAll(seeds)
    expect(faults).toEqual([])
    // Requests that are all refused at the first look would prove little.
    for (const status of [0, 200, 201, 400, 401, 404, 409, 412, 413])
      expect([status, statuses.has(status)]).toEqual([status, true])
    const health = await fetch(`${serving.url}/healthz`)
    expect(health.status).toBe(200)
    expect(await (await ask('PUT', '/w/files/after', 'alive')).json()).toHaveProperty('seq')
    expect(logged.filter((line) => (JSON.parse(line) as { level: number }).level >= 50)).toEqual([])
  }, 120_000)

  it('a wrong key of any length is 401 and tells nothing else', async () => {
    const lengths = [0, 1, 7, 8, 9, 20, 43, 44, 64, 511, 512, 513, 1000, 8000]
    const keys = [
      ...lengths.map((length) => 'k'.repeat(length)),
      ...Array.from({ length: key.length }, (_, i) => key.slice(0, i)),
      `${key}x`,
      key.toUpperCase(),
      `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`,
    ]
    const bodies = new Set<string>()
    for (const wrong of keys) {
      const path = wrong.length % 2 === 0 ? 'w/files/a' : 'none/files/none'
      const answer = await fetch(`${serving.url}/v1/workspaces/${path}`, {
        headers: { authorization: `Bearer ${wrong}`, 'x-request-id': 'same' },
      })
      expect([wrong.length, answer.status]).toEqual([wrong.length, 401])
      bodies.add(await answer.text())
    }
    expect(bodies.size).toBe(1)
  })
})
