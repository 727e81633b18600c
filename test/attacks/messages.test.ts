// Sessions × messages × kinds of token. A message of the registry that has no rule here fails.
import { createHash } from 'node:crypto'
import type { Ino, Name, SessionRequest } from '@cairn/protocol'
import { encodeRequest, encodeTrace, sessionTables, sessionVersion } from '@cairn/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { secret, until, writeBytes } from '../sessions/fixture.ts'
import { bodyOf, RawSession } from './raw-session.ts'
import { Site } from './site.ts'

/** What a session is opened with: whose key, and for what. */
const kinds = {
  owner: { mode: 'write', operations: [] },
  writer: { mode: 'write', operations: ['read', 'list', 'write', 'delete'] },
  /** A token that may write, in a session that only reads. */
  onlooker: { mode: 'read', operations: ['read', 'list', 'write', 'delete'] },
  reader: { mode: 'read', operations: ['read', 'list'] },
  /** A token in a session that gives single directories back. */
  sharer: { mode: 'share', operations: ['read', 'list', 'write', 'delete'] },
  /** May not read what it writes. */
  dropper: { mode: 'write', operations: ['write'] },
  /** Reads a checkpoint. */
  past: { mode: 'past', operations: ['read', 'list', 'write', 'delete'] },
} as const
type Kind = keyof typeof kinds
const kindNames = Object.keys(kinds) as Kind[]

type Outcomes = Readonly<Record<Kind, string>>

interface Where {
  readonly file: Ino
  readonly directory: Ino
  readonly epoch: number
  readonly seq: number
}

interface Rule {
  readonly say: (where: Where) => object
  /** What comes back, about what the token sees. `silence` is no answer to a message that has none. */
  readonly inside: Outcomes
  /** About what is hidden from all tokens. Absent where a message names nothing. */
  readonly hidden?: Outcomes
}

const all = (outcome: string): Outcomes =>
  Object.fromEntries(kindNames.map((kind) => [kind, outcome])) as Outcomes
const writers = (outcome: string, others: string): Outcomes => ({
  ...all(others),
  owner: outcome,
  writer: outcome,
  sharer: outcome,
  dropper: outcome,
})

const lock = { kind: 'flock', owner: 'o', start: 0, end: 9, mode: 'read' } as const

const rules: Readonly<Record<string, Rule>> = {
  hello: {
    say: () => ({
      version: sessionVersion,
      workspace: 'w',
      branch: 'main',
      mode: 'write',
      session: '',
      seq: 0,
      path: '',
    }),
    inside: all('malformed'),
  },
  nameless: { say: () => ({}), inside: { ...all('answer'), past: 'read_only' } },
  hold: { say: () => ({ inos: Uint8Array.of(0) }), inside: all('silence') },
  // These are for sessions that give single directories back.
  look: {
    say: ({ directory }) => ({ inos: [directory] }),
    inside: { ...all('read_only'), sharer: 'answer' },
    hidden: { ...all('read_only'), sharer: 'answer' },
  },
  // The answer says whether it may acknowledge there.
  claim: {
    say: ({ directory }) => ({ inos: [directory] }),
    inside: { ...all('read_only'), sharer: 'yes' },
    hidden: { ...all('read_only'), sharer: 'no' },
  },
  done: { say: () => ({ request: 99 }), inside: all('silence') },
  revisit: {
    say: () => ({
      version: sessionVersion,
      workspace: 'w',
      branch: 'main',
      at: 'then',
      session: '',
      path: '',
    }),
    inside: all('malformed'),
  },
  submit: {
    say: ({ file, epoch }) => ({ number: 1, epoch, body: bodyOf([writeBytes(file, 'x')]) }),
    inside: writers('receipt', 'read_only'),
    hidden: { ...writers('ENOENT', 'read_only'), owner: 'receipt' },
  },
  // A message that comes in pieces is taken as if it had come whole.
  piece: {
    say: ({ file, epoch }) => {
      const body = bodyOf([writeBytes(file, 'x')])
      const bytes = encodeRequest({ type: 'submit', number: 1, epoch, body })
      const message = createHash('sha256').update(bytes).digest('binary')
      return { message, total: bytes.length, offset: 0, bytes }
    },
    inside: { ...writers('receipt', 'read_only'), past: 'silence' },
    hidden: { ...writers('ENOENT', 'read_only'), owner: 'receipt', past: 'silence' },
  },
  inode: {
    say: ({ file }) => ({ ino: file }),
    inside: all('answer'),
    hidden: { ...all('ESTALE'), owner: 'answer' },
  },
  directory: {
    say: ({ directory }) => ({ ino: directory, after: '' as Name, limit: 10 }),
    inside: { ...all('answer'), dropper: 'EACCES' },
    hidden: { ...all('ESTALE'), owner: 'answer' },
  },
  subtree: {
    say: ({ directory }) => ({ ino: directory, limit: 10 }),
    // No directory, for a caller that may not list.
    inside: all('answer'),
    hidden: { ...all('ESTALE'), owner: 'answer' },
  },
  content: {
    say: ({ file }) => ({ ino: file, offset: 0, length: 9 }),
    inside: { ...all('answer'), dropper: 'forbidden' },
    hidden: { ...all('ENOENT'), owner: 'answer' },
  },
  seek: {
    say: ({ file }) => ({ ino: file, offset: 0, hole: 0 }),
    inside: { ...all('answer'), dropper: 'forbidden' },
    hidden: { ...all('ENOENT'), owner: 'answer' },
  },
  blob: {
    say: () => ({ bytes: new Uint8Array(1000).fill(7) }),
    // A mount that recovers stores content before it writes from it.
    inside: { ...all('answer'), reader: 'forbidden', past: 'read_only' },
  },
  inodes: {
    say: () => ({ count: 1 }),
    inside: { ...all('answer'), reader: 'forbidden', past: 'read_only' },
  },
  changes: {
    say: ({ seq }) => ({ seq }),
    inside: { ...all('answer'), owner: 'EINVAL', past: 'read_only' },
  },
  rescue: {
    say: ({ file }) => ({ number: 1, epoch: 1, body: bodyOf([writeBytes(file, 'x')]) }),
    inside: writers('forbidden', 'read_only'),
    hidden: writers('forbidden', 'read_only'),
  },
  lock: {
    say: ({ file }) => ({ ino: file, ...lock, wait: 0, pid: 1 }),
    inside: { ...writers('answer', 'read_only'), dropper: 'forbidden' },
    hidden: { ...all('ENOENT'), owner: 'answer', past: 'read_only' },
  },
  blocker: {
    say: ({ file }) => ({ ino: file, ...lock }),
    inside: { ...writers('answer', 'read_only'), dropper: 'forbidden' },
    hidden: { ...all('ENOENT'), owner: 'answer', past: 'read_only' },
  },
  locks: { say: () => ({}), inside: writers('answer', 'read_only') },
  barrier: { say: ({ seq }) => ({ seq }), inside: { ...all('answer'), past: 'read_only' } },
  conflicts: { say: () => ({}), inside: { ...all('answer'), past: 'read_only' } },
  released: { say: ({ epoch }) => ({ epoch }), inside: all('silence') },
  renew: { say: () => ({}), inside: all('silence') },
  seen: { say: ({ seq }) => ({ seq }), inside: all('silence') },
  cancel: { say: () => ({ question: 99 }), inside: all('silence') },
  trace: {
    say: ({ directory }) => ({ ino: directory, bytes: encodeTrace([]) }),
    inside: all('silence'),
    hidden: all('silence'),
  },
  // Nothing that is hidden is in the answer: test/sessions/traces.test.ts.
  ahead: {
    say: ({ directory }) => ({ ino: directory, from: 0, bytes: 1 }),
    inside: { ...all('answer'), past: 'read_only' },
    hidden: { ...all('answer'), past: 'read_only' },
  },
  bye: { say: () => ({}), inside: all('closed') },
}

function granted({ heard }: RawSession): string {
  const answer = heard.find((reply) => reply.type === 'answer')
  return answer?.bytes[0] === 1 ? 'yes' : 'no'
}

describe('every message of the registry', () => {
  let site: Site
  const keys = new Map<Kind, string>()
  const places = new Map<string, Omit<Where, 'epoch'>>()

  beforeAll(async () => {
    site = await Site.open(['/src/a', '/hidden/h'], 60_000)
    await site.owner('POST', '/w/layers/main/checkpoints', { label: 'then' })
    const seq = (
      JSON.parse(await site.owner('GET', '/w/log?limit=1')) as { items: [{ seq: number }] }
    ).items[0].seq
    for (const [name, path] of [
      ['inside', '/src/a'],
      ['hidden', '/hidden/h'],
    ] as const) {
      const [file, directory] = [await site.ino(path), await site.ino(path.slice(0, -2))]
      places.set(name, { file, directory, seq })
    }
    for (const kind of kindNames) {
      const operations = kinds[kind].operations
      keys.set(kind, kind === 'owner' ? secret : await site.issue([{ path: '/src', operations }]))
    }
  })
  afterAll(() => site.close())

  const open = async (kind: Kind): Promise<{ session: RawSession; epoch: number }> => {
    const [key, { mode }] = [keys.get(kind)!, kinds[kind]]
    if (mode !== 'past') {
      const session = await site.session(key, { mode })
      return { session, epoch: mode === 'read' ? 2 : await session.leaseEpoch() }
    }
    const session = await RawSession.connect(site.server, key)
    const revisit = { workspace: 'w', branch: 'main', at: 'then', session: '', path: '' } as const
    session.send({ type: 'revisit', version: sessionVersion, ...revisit })
    await session.hears('welcome')
    return { session, epoch: 2 }
  }

  /** The next client must not wait for the lease. */
  const leave = async (kind: Kind, session: RawSession): Promise<void> => {
    session.close()
    const { mode } = kinds[kind]
    if (mode === 'read' || mode === 'past') return
    const again = await site.session(keys.get(kind)!, { session: session.id, mode })
    again.send({ type: 'bye' })
    await until(() => again.isClosed)
  }

  const outcomeOf = async (
    kind: Kind,
    type: string,
    where: Omit<Where, 'epoch'>,
  ): Promise<string> => {
    const { session, epoch } = await open(kind)
    const fields = sessionTables.requests[type]!
    const asks = 'id' in fields
    const message = { type, ...(asks ? { id: 1 } : {}), ...rules[type]!.say({ ...where, epoch }) }
    session.send(message as SessionRequest)
    const outcome =
      type === 'bye'
        ? await until(() => session.isClosed).then(() => 'closed')
        : await session.outcome(asks || type === 'submit' || (type === 'piece' && kind !== 'past'))
    await leave(kind, session)
    return type === 'claim' && outcome === 'answer' ? granted(session) : outcome
  }

  it('every message of the registry has a rule', () => {
    expect(Object.keys(rules).sort()).toEqual(Object.keys(sessionTables.requests).sort())
  })

  it.each(Object.keys(sessionTables.requests))('%s', async (type) => {
    const { inside, hidden } = rules[type]!
    for (const [about, expected] of [
      ['inside', inside],
      ['hidden', hidden],
    ] as const) {
      if (!expected) continue
      const outcomes: Record<string, string> = {}
      for (const kind of kindNames) outcomes[kind] = await outcomeOf(kind, type, places.get(about)!)
      expect(outcomes, about).toEqual(expected)
    }
  })
})
