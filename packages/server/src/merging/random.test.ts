import type { ApiErrorBody } from '@cairn/protocol'
import { describe, expect, it, vi } from 'vitest'
import { cutWrite } from '../../test/cut-once.ts'
import { type Answer, memoryServers, type MemoryServer } from '../testing/memory-servers.ts'

/**
 * Attempts that do whatever comes to mind, on two servers, beside a model that keeps each branch as a plain list of
 * files and merges path by path.
 */

type Files = ReadonlyMap<string, string>

interface Line {
  readonly name: string
  files: Files
}

interface Attempt extends Line {
  readonly parent: Line
  base: Files
  state: 'open' | 'conflicted' | 'committed' | 'abandoned'
  checkpoints: { readonly label: string; readonly files: Files }[]
  /** What an undo brings back. */
  before: Files | undefined
}

const paths = ['/repo/a', '/repo/b', '/repo/c', '/repo/d/e', '/repo/d/f']
const stepsPerStory = 120
/** For longer runs: `CAIRN_RUNS=50 npx vitest run packages/server/src/merging/random.test.ts`. */
const stories = Math.ceil(6 * Number(process.env['CAIRN_RUNS'] ?? 1))

describe('random attempts', () => {
  it.each(Array.from({ length: stories }, (_, seed) => seed))(
    'story %i is what the model tells',
    async (seed) => {
      const story = new Story(seed)
      await story.begin()
      for (let step = 0; step < stepsPerStory; step++) await story.step()
      await story.compareAll()
    },
  )
})

class Story {
  readonly #random: () => number
  readonly #servers: readonly MemoryServer[]
  readonly #main: Line = { name: 'main', files: new Map() }
  readonly #attempts: Attempt[] = []
  #count = 0

  constructor(seed: number) {
    this.#random = randomFrom(seed)
    const shared = memoryServers()
    this.#servers = [shared.open(), shared.open()]
  }

  async begin(): Promise<void> {
    await this.#call('POST', '', { name: 'w' })
    await this.#call('POST', '/w/files/repo/d?mkdir', { parents: true })
    for (const path of paths.slice(0, 3)) await this.#write(this.#main, path, `first of ${path}`)
  }

  async step(): Promise<void> {
    const live = this.#attempts.filter(isWorking)
    const attempt = live.length > 0 ? this.#choose(live) : undefined
    const dice = this.#below(100)
    if (!attempt || (dice < 12 && live.length < 5)) return this.#create(live)
    if (dice < 50) return this.#edit(this.#choose([this.#main, ...live]))
    if (dice < 58) return this.#checkpoint(attempt)
    if (dice < 66) return this.#rollback(attempt)
    if (dice < 71) return this.#undo(attempt)
    if (dice < 80) return this.#rebase(attempt)
    if (dice < 90) return this.#commit(attempt)
    if (dice < 95) return this.#resolve(attempt)
    if (dice < 97) return this.#abandon(attempt)
    return this.compareAll()
  }

  /** On one server. Asking for the status of a layer has it look at what the other wrote, to its parent as well. */
  async compareAll(): Promise<void> {
    const server = this.#choose(this.#servers)
    await server.call('POST', '/w/layers', { name: `look${this.#count++}`, path: '/repo' })
    for (const attempt of this.#attempts.filter(isWorking)) {
      const { json } = await server.call<{ state: string }>('GET', `/w/layers/${attempt.name}`)
      expect(json.state).toBe(attempt.state)
      await compare(server, attempt)
    }
    await compare(server, this.#main)
  }

  async #create(live: readonly Attempt[]): Promise<void> {
    const parent = this.#below(3) === 0 ? this.#choose([this.#main, ...live]) : this.#main
    const name = `l${this.#count++}`
    await this.#ok('POST', '/w/layers', { name, path: '/repo', parent: parent.name })
    const { files } = parent
    const fresh = { name, parent, files, base: files, before: undefined }
    this.#attempts.push({ ...fresh, state: 'open', checkpoints: [] })
  }

  async #edit(line: Line): Promise<void> {
    const path = this.#choose(paths)
    if (!line.files.has(path) || this.#below(4) > 0)
      // Few texts, so that two sides often say the same.
      return this.#write(line, path, `text ${this.#below(4)}`)
    await this.#ok('DELETE', `/w/files${path}?layer=${line.name}`)
    line.files = new Map([...line.files].filter(([other]) => other !== path))
    forgetUndo(line)
  }

  async #write(line: Line, path: string, text: string): Promise<void> {
    await this.#ok('PUT', `/w/files${path}?layer=${line.name}`, text)
    line.files = new Map([...line.files, [path, text]])
    forgetUndo(line)
  }

  async #checkpoint(attempt: Attempt): Promise<void> {
    const label = `c${this.#count++}`
    await this.#ok('POST', `/w/layers/${attempt.name}/checkpoints`, { label })
    attempt.checkpoints.push({ label, files: attempt.files })
  }

  async #rollback(attempt: Attempt): Promise<void> {
    const points = [...attempt.checkpoints, { label: 'base', files: attempt.base }]
    const { label, files } = this.#choose(points)
    const answer = await this.#insist(`/w/layers/${attempt.name}/rollback`, { to: label })
    expect(answer.status, answer.body).toBe(200)
    attempt.before = attempt.files
    attempt.files = files
  }

  async #undo(attempt: Attempt): Promise<void> {
    const { before } = attempt
    const answer = await this.#insist(`/w/layers/${attempt.name}/undo`)
    if (!before) return expect(codeOf(answer)).toBe('nothing_to_undo')
    expect(answer.status, answer.body).toBe(200)
    attempt.files = before
    attempt.before = undefined
  }

  async #rebase(attempt: Attempt): Promise<void> {
    const { merged, conflicts } = mergeFiles(attempt)
    const answer = await this.#insist(`/w/layers/${attempt.name}/rebase`)
    if (conflicts.length > 0) return this.#expectConflicts(answer, conflicts)
    expect(answer.status, answer.body).toBe(200)
    attempt.base = attempt.parent.files
    attempt.files = merged
    attempt.state = 'open'
    attempt.before = undefined
    // Behind a rebase there is no way back.
    attempt.checkpoints = []
  }

  async #commit(attempt: Attempt): Promise<void> {
    if (!isWorking(attempt.parent) || this.#hasChildren(attempt)) return
    const { merged, conflicts } = mergeFiles(attempt)
    const url = `/w/layers/${attempt.name}/commit`
    const key = { 'idempotency-key': `k${this.#count++}` }
    const send = (): Promise<Answer<ApiErrorBody>> => this.#call('POST', url, {}, key)
    const cut = this.#below(2) === 0 ? await this.#insist(url) : undefined
    const [answer, again] = cut ? [cut, cut] : await Promise.all([send(), send()])
    if (conflicts.length > 0) {
      attempt.state = 'conflicted'
      this.#expectConflicts(again, conflicts)
      return this.#expectConflicts(answer, conflicts)
    }
    expect(answer.status, answer.body).toBe(200)
    expect(again.json).toEqual(answer.json)
    attempt.state = 'committed'
    attempt.parent.files = merged
    forgetUndo(attempt.parent)
  }

  /** Decides all there is, and commits at once: what is decided stands until the parent moves. */
  async #resolve(attempt: Attempt): Promise<void> {
    if (!isWorking(attempt.parent) || this.#hasChildren(attempt)) return
    const { conflicts } = mergeFiles(attempt)
    const files = new Map(attempt.files)
    for (const path of conflicts) {
      const take = this.#choose(['layer', 'target'] as const)
      const answer = await this.#insist(`/w/layers/${attempt.name}/resolve`, { path, take })
      expect(answer.status, answer.body).toBe(200)
      const theirs = attempt.parent.files.get(path)
      if (take === 'layer') continue
      if (theirs === undefined) files.delete(path)
      else files.set(path, theirs)
    }
    const answer = await this.#insist(`/w/layers/${attempt.name}/commit`)
    expect(answer.status, answer.body).toBe(200)
    const decided = { ...attempt, files, base: withoutThese(attempt, conflicts) }
    attempt.parent.files = mergeFiles(decided).merged
    attempt.state = 'committed'
    forgetUndo(attempt.parent)
  }

  async #abandon(attempt: Attempt): Promise<void> {
    if (this.#hasChildren(attempt)) return
    const answer = await this.#insist(`/w/layers/${attempt.name}/abandon`)
    expect(answer.status, answer.body).toBe(200)
    attempt.state = 'abandoned'
    const path = `/w/files/repo/a?layer=${attempt.name}`
    expect(codeOf(await this.#call('PUT', path, 'late'))).toBe('layer_closed')
  }

  #hasChildren(attempt: Attempt): boolean {
    return this.#attempts.some((other) => other.parent === attempt && isWorking(other))
  }

  #expectConflicts(answer: Answer<ApiErrorBody>, paths: readonly string[]): void {
    expect(codeOf(answer), answer.body).toBe('layer_conflict')
    const found = new Set(answer.json.error.conflicts?.map(({ path }) => path))
    expect([...found].sort()).toEqual(paths.toSorted())
  }

  async #ok(
    method: 'PUT' | 'POST' | 'DELETE',
    url: string,
    payload?: string | object,
  ): Promise<void> {
    const { status, body } = await this.#call(method, url, payload)
    expect(status, body).toBeLessThan(300)
  }

  /** Now and then a store falls silent in the middle. Asked for again under its key, wherever, it has happened once. */
  async #insist(url: string, body: object = {}): Promise<Answer<ApiErrorBody>> {
    const key = { 'idempotency-key': `k${this.#count++}` }
    if (this.#below(3) > 0) cutWrite(this.#below(8))
    const answer = await this.#call('POST', url, body, key)
    vi.restoreAllMocks()
    if (codeOf(answer) !== 'storage_unavailable') return answer
    return this.#call('POST', url, body, key)
  }

  #call<T = ApiErrorBody>(
    ...[method, url, payload, headers]: Parameters<MemoryServer['call']>
  ): Promise<Answer<T>> {
    return this.#choose(this.#servers).call<T>(method, url, payload, headers)
  }

  #choose<T>(items: readonly T[]): T {
    return items[this.#below(items.length)]!
  }

  #below(end: number): number {
    return Math.floor(this.#random() * end)
  }
}

async function compare(server: MemoryServer, { name, files }: Line): Promise<void> {
  const found: Record<string, string> = {}
  for (const path of paths) {
    const { status, body } = await server.call('GET', `/w/files${path}?layer=${name}`)
    if (status === 200) found[path] = body
  }
  expect([name, found]).toEqual([name, Object.fromEntries(files)])
}

function isWorking(line: Line): boolean {
  return !('state' in line) || line.state === 'open' || line.state === 'conflicted'
}

function forgetUndo(line: Line): void {
  if ('before' in line) line.before = undefined
}

/** What only one side changed is taken; what both changed to the same is no conflict. */
function mergeFiles({ base, files, parent }: Pick<Attempt, 'base' | 'files' | 'parent'>): {
  merged: Files
  conflicts: string[]
} {
  const merged = new Map(parent.files)
  const conflicts: string[] = []
  for (const path of paths) {
    const [was, mine, theirs] = [base.get(path), files.get(path), parent.files.get(path)]
    if (mine === was || mine === theirs) continue
    if (theirs !== was) conflicts.push(path)
    if (mine === undefined) merged.delete(path)
    else merged.set(path, mine)
  }
  return { merged, conflicts }
}

/** So that what was decided counts as the layer's own change, and not as one against the parent's. */
function withoutThese({ base, parent }: Attempt, decided: readonly string[]): Files {
  const files = new Map(base)
  for (const path of decided) {
    const theirs = parent.files.get(path)
    if (theirs === undefined) files.delete(path)
    else files.set(path, theirs)
  }
  return files
}

function codeOf({ json }: Answer<unknown>): string | undefined {
  return (json as Partial<ApiErrorBody> | undefined)?.error?.code
}

/** mulberry32 */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
