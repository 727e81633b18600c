import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { decodeAheadAnswer } from '@cairn/mount'
import { rootIno } from '@cairn/protocol'
import { openSession, until } from '../sessions/fixture.ts'
import { noMount, Site } from './fixture.ts'

describe.skipIf(noMount)('the second mount of a directory', () => {
  let site: Site

  beforeEach(async () => {
    site = await Site.open()
  })
  afterEach(() => site.close())

  /** Once the server has it. */
  async function unmountWithTrace(pieces: number): Promise<void> {
    const mount = await site.mount('/')
    await mount.sh('cat src/*/*.txt > /dev/null; head -c 300000 big > /dev/null')
    await mount.unmount()
    const session = openSession(site, { key: site.key, workspace: 'demo', mode: 'read' })
    try {
      await until(async () => {
        const question = { type: 'ahead', ino: rootIno, from: 0, bytes: 1 << 20 } as const
        return decodeAheadAnswer(await session.ask(question)).pieces.length >= pieces
      })
    } finally {
      session.abandon()
    }
  }

  async function prepare(): Promise<string> {
    const mount = await site.mount('/')
    await mount.sh(`
      for d in 1 2 3; do
        mkdir -p src/$d
        for f in 1 2 3 4 5; do head -c 5000 /dev/urandom | base64 > src/$d/$f.txt; done
      done
      head -c 3000000 /dev/urandom > big
      mkdir -p unread/deep; touch unread/deep/f`)
    const sums = await mount.sh(sumUp)
    // A mount that reads its own files fetches nothing.
    await mount.unmount()
    return sums
  }

  const sumUp =
    'ls -lR src | grep -v total; cat src/*/*.txt | sha256sum; head -c 300000 big | sha256sum'

  it('shows what the first one read without a request to the server', async () => {
    const sums = await prepare()
    await unmountWithTrace(17)
    const second = await site.mount('/')
    // What lies near the top comes last, and no program read this.
    await until(async () => (await second.status()).knownInodes === 24)
    await site.stopServer('SIGKILL')
    expect(await second.sh(sumUp)).toBe(sums)
    await site.startServer()
  })

  it('shows the bytes of now where a file changed in between', async () => {
    await prepare()
    await unmountWithTrace(17)
    await site.cairn(['fs', 'rm', ':/src/1/1.txt'])
    const writer = await site.mount('/')
    await writer.sh('echo new > src/1/2.txt; echo tail >> src/1/3.txt')
    const sums = await writer.sh('cat src/*/*.txt | sha256sum')
    await writer.unmount()
    const second = await site.mount('/')
    expect(await second.sh('cat src/*/*.txt | sha256sum')).toBe(sums)
  })
})
