import { encodeBody, type Op } from '@cairn/core'
import {
  type ActorId,
  type Ino,
  type Name,
  rootIno,
  type SessionReply,
  sessionVersion,
} from '@cairn/protocol'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { LayerFixture, ok } from '../../test/layer-fixture.ts'
import { Session } from './session.ts'

const unlimited = Number.MAX_SAFE_INTEGER
const time = { sec: 1, nsec: 0 }
const leaseMs = 10_000

function create(ino: number): Op {
  const owner = { mode: 0o644, uid: 0, gid: 0, rdev: 0, target: undefined }
  const name = `f${ino}` as Name
  return { type: 'create', time, parent: rootIno, name, ino: ino as Ino, kind: 'file', ...owner }
}

function write(ino: number, length: number): Op {
  const data = { type: 'bytes', bytes: new Uint8Array(length).fill(1) } as const
  return { type: 'write', time, ino: ino as Ino, offset: 0, data, dropPrivileges: false }
}

describe('a session under a quota', () => {
  let fixture: LayerFixture
  let session: Session
  let heard: SessionReply[]

  const setQuota = (body: object): Promise<unknown> => ok(fixture.server.call('PATCH', '/w', body))

  async function open(): Promise<void> {
    heard = []
    const workspace = await fixture.server.workspaces.open('o', 'w')
    const branch = await workspace.branch('main')
    const parts = { workspace, branch, keeper: workspace.lease(branch), leaseMs }
    const connection = {
      send: (reply: SessionReply) => void heard.push(reply),
      bufferedBytes: 0,
      close: () => undefined,
    }
    session = await Session.open({ ...parts, actor: 'key' as ActorId }, connection, {
      type: 'hello',
      version: sessionVersion,
      workspace: 'w',
      branch: 'main',
      mode: 'write',
      session: '',
      seq: branch.head.position.seq,
      path: '',
    })
  }

  function find<Type extends SessionReply['type']>(
    type: Type,
  ): Promise<Extract<SessionReply, { type: Type }>> {
    return vi.waitFor(() => {
      const found = heard.findLast((reply) => reply.type === type)
      expect(found).toBeDefined()
      return found as Extract<SessionReply, { type: Type }>
    })
  }

  async function submit(number: number, ...ops: Op[]): Promise<void> {
    const { epoch } = await find('lease')
    const body = encodeBody({ type: 'ops', ops }, time)
    await session.handle({ type: 'submit', number, epoch, body })
  }

  beforeEach(async () => {
    fixture = new LayerFixture()
    await fixture.fill()
  })

  it('hears what room there is before it may acknowledge, and again behind each batch', async () => {
    await setQuota({ maxBytes: 1000 })
    await open()
    await find('lease')
    const types = heard.map(({ type }) => type)
    expect(types.indexOf('room')).toBeLessThan(types.indexOf('lease'))
    const room = { bytes: 992, files: unlimited, maxBytes: 1000, maxFiles: unlimited }
    expect(await find('room')).toMatchObject(room)
    await submit(1, create(100), write(100, 500))
    await vi.waitFor(async () => expect((await find('room')).bytes).toBe(492))
    const later = heard.map(({ type }) => type)
    expect(later.lastIndexOf('room')).toBeGreaterThan(later.indexOf('own'))
  })

  it('a session hears nothing where there is no quota', async () => {
    await open()
    await submit(1, create(100))
    await find('own')
    expect(heard.map(({ type }) => type)).not.toContain('room')
  })

  it('a session under a quota is refused what does not fit, all of it, and what comes behind is taken', async () => {
    await setQuota({ maxBytes: 1000 })
    await open()
    await submit(1, create(100), write(100, 993))
    expect(await find('refused')).toMatchObject({ number: 1, code: 'quota_exceeded' })
    await submit(2, create(101), write(101, 992))
    expect(await find('receipt')).toMatchObject({ number: 2 })
  })

  it('a lowered quota waits until the holder has handed in what it acknowledged by the old one', async () => {
    await setQuota({ maxBytes: 1000 })
    await open()
    await find('lease')
    const lowered = setQuota({ maxBytes: 100 })
    const { epoch } = await find('recall')
    await submit(1, create(100), write(100, 900))
    expect(await find('receipt')).toMatchObject({ number: 1 })
    await session.handle({ type: 'released', epoch })
    await lowered
    await vi.waitFor(async () => expect((await find('room')).maxBytes).toBe(100))
    await vi.waitFor(async () => expect((await find('lease')).epoch).toBeGreaterThan(epoch))
    await submit(2, create(101), write(101, 1))
    expect(await find('refused')).toMatchObject({ number: 2, code: 'quota_exceeded' })
  })

  it('a raised quota is heard with the next sign of life', async () => {
    await setQuota({ maxBytes: 100 })
    await open()
    await find('lease')
    const raised = setQuota({ maxBytes: 5000 })
    const { epoch } = await find('recall')
    await session.handle({ type: 'released', epoch })
    await raised
    await vi.waitFor(async () => expect((await find('room')).bytes).toBe(4992))
  })
})
