import { setTimeout } from 'node:timers/promises'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Site } from '../../mount/fixture.ts'
import type { Row } from '../table.ts'
import { makeRepository } from './repository.ts'
import { best, next, row } from './timed.ts'

const sessions = 50

/** What read-write sessions that do nothing cost a mount that clones. */
export async function benchIdleSessions(site: Site): Promise<Row[]> {
  const source = makeRepository(site)
  const mount = await site.mount('/')
  const clone = (): Promise<string> =>
    mount.sh(`git clone -q --no-local ${source} ${next('clone')}`)
  // The first ones are slower: code is compiled, and memory is taken.
  await best(clone)
  const before = await best(clone)
  const idle = new Worker(new URL('idle-sessions-thread.ts', import.meta.url), {
    workerData: { url: site.url, key: site.key, count: sessions },
  })
  await once(idle, 'message')
  const beside = await best(clone)
  await idle.terminate()
  // Until the server knows that they are gone.
  await setTimeout(1000)
  const alone = (before + (await best(clone))) / 2
  return [row(`git clone, ${sessions} idle read-write sessions`, alone, beside, 1.2)]
}
