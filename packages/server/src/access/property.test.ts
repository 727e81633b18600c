import { createHmac } from 'node:crypto'
import {
  type AccessOperation,
  accessOperations,
  encodeCaveat,
  type IssuedToken,
} from '@cairn/protocol'
import fc from 'fast-check'
import type { FastifyInstance } from 'fastify'
import { describe, expect, it } from 'vitest'
import { memoryDoor, secret } from '../../test/memory-door.ts'

interface Step {
  readonly allow: readonly { readonly path: string; readonly operations: AccessOperation[] }[]
  readonly deny: readonly string[]
}

type Entry = readonly [path: string, kind: 'file' | 'directory' | 'symlink', target?: string]

const directories = ['/a', '/a/a', '/a/b', '/b', '/b/a']
const files = ['/f', '/a/f', '/a/g', '/a/a/f', '/a/b/f', '/b/f', '/b/a/g']
const paths = ['/', ...directories, ...files, '/new', '/a/new', '/a/a/new', '/b/new']
const path = fc.constantFrom(...paths)

/** What is allowed, in five lines that know nothing of the server's. */
function may(steps: readonly Step[], operation: AccessOperation, at: string): boolean {
  const above = at.split('/').map((_, depth, all) => all.slice(0, depth + 1).join('/') || '/')
  const has = ({ allow }: Step): boolean =>
    allow.some((rule) => above.includes(rule.path) && rule.operations.includes(operation))
  return steps.every((step) => has(step) && !step.deny.some((denied) => above.includes(denied)))
}

/** Whether something there or below is allowed: then it exists for the token. */
function isSeen(steps: readonly Step[], at: string): boolean {
  const roots = steps.flatMap(({ allow }) => allow.map((rule) => rule.path))
  const below = [at, ...paths, ...roots].filter(
    (each) => each === at || at === '/' || each.startsWith(`${at}/`),
  )
  return below.some((each) => accessOperations.some((operation) => may(steps, operation, each)))
}

const step: fc.Arbitrary<Step> = fc.record({
  allow: fc.array(
    fc.record({
      path,
      operations: fc
        .subarray(['read', 'list', 'write', 'delete'] as AccessOperation[], { minLength: 1 })
        .map((operations) => [...operations]),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  deny: fc.array(fc.constantFrom(...directories, ...files), { maxLength: 1 }),
})
const steps = fc.array(step, { minLength: 1, maxLength: 2 })
const tree = fc
  .tuple(
    fc.subarray(directories),
    fc.subarray(files),
    fc.array(fc.constantFrom(...directories, ...files), { maxLength: 2 }),
  )
  .map(([made, written, targets]): Entry[] => {
    const parents = new Set(made)
    for (const each of [...made, ...written])
      for (const above of ancestors(each)) parents.add(above)
    return [
      ...directories
        .filter((each) => parents.has(each))
        .map((each) => [each, 'directory'] as const),
      ...written.map((each) => [each, 'file'] as const),
      ...targets.map((target, index) => [`/link-${index}`, 'symlink', target] as const),
    ]
  })

function ancestors(at: string): string[] {
  const parts = at.split('/').slice(1, -1)
  return parts.map((_, depth) => `/${parts.slice(0, depth + 1).join('/')}`)
}

const app: FastifyInstance = memoryDoor()
let worlds = 0

/** A workspace with a tree in it. */
class World {
  readonly name = `w-${++worlds}`
  #token = ''

  static async make(entries: readonly Entry[], steps: readonly Step[]): Promise<World> {
    const world = new World()
    await world.#call(secret, 'POST', '', { name: world.name })
    for (const [at, kind, target] of entries)
      if (kind === 'file') await world.owner('PUT', `/files${at}?parents=false`, `in ${at}`)
      else if (kind === 'directory') await world.owner('POST', `/files${at}?mkdir`, {})
      else await world.owner('POST', `/files${at}?symlink`, { target })
    const [first, ...rest] = steps
    const body = { name: 't', ttlMs: 60_000, ...first }
    const issued = await world.owner('POST', '/tokens', body)
    world.#token = rest.reduce(narrowed, (JSON.parse(issued.body) as IssuedToken).secret)
    return world
  }

  owner(method: Method, url: string, payload?: string | object): Promise<Answer> {
    return this.#call(secret, method, `/${this.name}${url}`, payload)
  }

  ask(method: Method, url: string, payload?: string | object): Promise<Answer> {
    return this.#call(this.#token, method, `/${this.name}${url}`, payload)
  }

  /** Everything there is, to the time of its last change. */
  async snapshot(): Promise<string> {
    return (await this.owner('GET', '/files/?list&recursive')).body
  }

  async #call(
    key: string,
    method: Method,
    url: string,
    payload?: string | object,
  ): Promise<Answer> {
    const answer = await app.inject({
      method,
      url: `/v1/workspaces${url}`,
      headers: { authorization: `Bearer ${key}` },
      ...(payload === undefined ? {} : { payload }),
    })
    return { status: answer.statusCode, body: answer.body.replaceAll(this.name, 'w') }
  }
}

type Method = 'GET' | 'PUT' | 'POST' | 'DELETE'

interface Answer {
  readonly status: number
  readonly body: string
}

/** As docs/reference/tokens.md has it. */
function narrowed(token: string, { allow, deny }: Step): string {
  const parts = token.split('.')
  const signature = Buffer.from(parts.pop()!, 'base64url')
  const rules = allow.map(({ path: prefix, operations }) => ({ prefix, operations }))
  const caveat = encodeCaveat({ rules, deny })
  return [
    ...parts,
    caveat,
    createHmac('sha256', signature).update(caveat).digest('base64url'),
  ].join('.')
}

interface Attempt {
  readonly verb: string
  readonly from: string
  readonly to: string
}

const verbs = ['read', 'list', 'stat', 'write', 'mkdir', 'remove', 'chmod', 'move', 'copy', 'link']
const attempt: fc.Arbitrary<Attempt> = fc.record({
  verb: fc.constantFrom(...verbs),
  from: path,
  to: path,
})

type Request = [method: Method, url: string, payload?: string | object]

function send({ verb, from, to }: Attempt): Request {
  switch (verb) {
    case 'read':
      return ['GET', `/files${from}`]
    case 'list':
      return ['GET', `/files${from}?list`]
    case 'stat':
      return ['GET', `/files${from}?stat`]
    case 'write':
      return ['PUT', `/files${from}?parents=false`, 'new']
    case 'remove':
      return ['DELETE', `/files${from}`]
    case 'mkdir':
      return ['POST', `/files${from}?mkdir`, {}]
    case 'chmod':
      return ['POST', `/files${from}?chmod`, { mode: '0700' }]
    default:
      return ['POST', `/files${from}?${verb}`, { to }]
  }
}

/** Whether the token may do it, if it can be done at all. */
function isAllowed(
  steps: readonly Step[],
  { verb, from, to }: Attempt,
  isDirectory: boolean,
): boolean {
  const all = (...needs: readonly [AccessOperation, string][]): boolean =>
    needs.every(([operation, at]) => may(steps, operation, at))
  const hidden = steps.some(({ deny }) => deny.some((denied) => denied.startsWith(`${from}/`)))
  const leads = paths.some((each) => each.startsWith(`${from}/`) && may(steps, 'write', each))
  switch (verb) {
    case 'read':
      return all(['read', from])
    case 'list':
      return all(['list', from]) || (isSeen(steps, from) && leadsOn(steps, from))
    case 'stat':
      return isSeen(steps, from)
    case 'mkdir':
      return all(['write', from]) || leads
    case 'remove':
      return all(['delete', from])
    case 'move':
      return (
        all(['delete', from], ['read', from], ['write', to]) &&
        (!isDirectory || all(['write', from])) &&
        !hidden
      )
    case 'copy':
      return all(['read', from], ['write', to])
    case 'link':
      return all(['read', from], ['write', from], ['write', to])
    default:
      return all(['write', from])
  }
}

/** A rule of the token begins below: the way there may be listed. */
function leadsOn(steps: readonly Step[], at: string): boolean {
  const roots = steps.flatMap(({ allow }) => allow.map((rule) => rule.path))
  return roots.some(
    (each) => each !== at && (at === '/' || each.startsWith(`${at}/`)) && isSeen(steps, each),
  )
}

/** CAIRN_RUNS=200 for more, and other ones. Nothing is made smaller after a failure: a run takes seconds. */
const more = process.env['CAIRN_RUNS']
const runs = {
  ...(more ? { numRuns: Number(more) } : { numRuns: 25, seed: 1 }),
  endOnFailure: true,
}

describe('what a token can do', { timeout: 300_000 }, () => {
  it('what a token can do is what five lines say: allowed is as for the owner, everything else changes nothing', async () => {
    await fc.assert(
      fc.asyncProperty(
        tree,
        steps,
        fc.array(attempt, { minLength: 6, maxLength: 6 }),
        async (entries, given, attempts) => {
          const plain = entries.filter(([, kind]) => kind !== 'symlink')
          for (const each of attempts) {
            if (isOfTree(plain, each)) continue
            const [world, twin] = [await World.make(plain, given), await World.make(plain, given)]
            const before = await world.snapshot()
            const answer = await world.ask(...send(each))
            const wanted = await twin.owner(...send(each))
            const about = `${each.verb} ${each.from} ${each.to}: ${answer.body}`
            if (isAllowed(given, each, isDirectory(plain, each.from)))
              expect(answer.status, about).toBe(wanted.status)
            else {
              // What cannot be done at all may be told as such.
              const isPlain = answer.status === 403 || answer.status === 404
              expect(isPlain || answer.status === wanted.status, about).toBe(true)
              expect(answer.status, about).toBeGreaterThan(399)
              expect(await world.snapshot()).toBe(before)
            }
          }
        },
      ),
      runs,
    )
  })

  it('what a token can do is the same whether what is out of scope is there or not', async () => {
    await fc.assert(
      fc.asyncProperty(
        tree,
        steps,
        fc.array(attempt, { minLength: 4, maxLength: 8 }),
        async (entries, given, attempts) => {
          const seen = entries.filter(([at]) => isSeen(given, at))
          const [world, bare] = [await World.make(entries, given), await World.make(seen, given)]
          const reads = ['/files/?list&recursive', '/log', '/log?order=newest', '/layers', '']
          for (const url of reads) await expectSame(world, bare, ['GET', url])
          for (const at of paths)
            for (const url of [
              `/files${at}?history`,
              `/log?path=${at}`,
              `/files${at}?stat&follow=false`,
            ])
              await expectSame(world, bare, ['GET', url])
          for (const each of attempts) {
            const isMade =
              entries.some(([at]) => at === each.from) && !seen.some(([at]) => at === each.from)
            // A directory cannot be removed for what is hidden in it: that much is told.
            if (!isMade && each.verb === 'remove') continue
            await expectSame(world, bare, send(each))
          }
        },
      ),
      runs,
    )
  })
})

/** Copies and moves of whole trees take what can be seen; the owner's take all. */
function isOfTree(entries: readonly Entry[], { verb, from }: Attempt): boolean {
  return isDirectory(entries, from) && (verb === 'copy' || verb === 'remove')
}

function isDirectory(entries: readonly Entry[], path: string): boolean {
  return path === '/' || entries.some(([at, kind]) => at === path && kind === 'directory')
}

async function expectSame(a: World, b: World, request: Parameters<World['ask']>): Promise<void> {
  const [one, other] = [await a.ask(...request), await b.ask(...request)]
  expect([one.status, comparable(one.body)], JSON.stringify(request)).toEqual([
    other.status,
    comparable(other.body),
  ])
}

/** Without what tells two worlds apart that were made one after the other. */
function comparable(body: string): string {
  return body
    .replace(
      /"(requestId|etag|mtimeNs|ctimeNs|atimeNs|time|session|id|createdAt|actor)":"[^}]*?"(?=[,}])/g,
      '',
    )
    .replace(/"(ino|seq)":\d+/g, '')
}
