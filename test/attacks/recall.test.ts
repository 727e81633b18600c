// A holder is asked to hand its lease back. One that does not loses it, however alive it says it is.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createFile, secret, until } from '../sessions/fixture.ts'
import type { RawSession } from './raw-session.ts'
import { Site } from './site.ts'

const leaseMs = 300

describe('a holder that is asked to hand its lease back', () => {
  let site: Site
  let stop = (): void => {}

  beforeEach(async () => {
    site = await Site.open(['/a'], leaseMs)
  })
  afterEach(async () => {
    stop()
    await site.close()
  })

  /** As long as the test lasts. */
  const keepRenewing = (...sessions: RawSession[]): void => {
    const timer = setInterval(() => {
      for (const session of sessions) session.send({ type: 'renew' })
    }, leaseMs / 6)
    stop = () => clearInterval(timer)
  }

  it('renews it for ever: a write over HTTP still succeeds', async () => {
    const holder = await site.session(secret)
    const epoch = await holder.leaseEpoch()
    keepRenewing(holder)
    await site.owner('PUT', '/w/files/b', 'b')
    expect(await holder.submit(epoch, createFile('late', 5001))).toBe('stale_epoch')
  })

  it('renews it for ever: another session can write in the end', async () => {
    const holder = await site.session(secret)
    const epoch = await holder.leaseEpoch()
    const other = await site.session(secret)
    keepRenewing(holder, other)
    let made = 0
    const write = async (): Promise<string> =>
      other.submit(other.standingEpoch ?? 0, createFile(`theirs-${made}`, 5000 + made++))
    await until(async () => (await write()) === 'done')
    expect(await holder.submit(epoch, createFile('late', 6001))).toBe('stale_epoch')
  })

  it('sends one file after the other for ever: its lease still ends', async () => {
    await site.close()
    site = await Site.open(['/a'], 100)
    const holder = await site.session(secret)
    const epoch = await holder.leaseEpoch()
    keepRenewing(holder)
    let isWritten = false
    const written = site.owner('PUT', '/w/files/b', 'b').then(() => (isWritten = true))
    let sent = 0
    await until(async () => {
      const outcome = await holder.submit(epoch, createFile(`f${sent}`, 6000 + sent++))
      return isWritten || outcome !== 'done'
    })
    await written
  })
})
