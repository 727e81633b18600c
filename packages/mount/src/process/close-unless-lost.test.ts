import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { closeUnlessLost } from './close-unless-lost.ts'

const gone = join(tmpdir(), 'cairn-no-such-directory')

function mountThat(connected: boolean) {
  const closed = Promise.withResolvers<void>()
  return {
    status: { connected, pendingOps: 3, pendingBytes: 70 },
    close: () => closed.promise,
    abandon: vi.fn(),
    finish: closed.resolve,
  }
}

/** A clock that runs as fast as it is asked, and says how often. */
function makeWatch() {
  const lines: string[] = []
  const watch = {
    looks: 0,
    lines,
    sleep: (): Promise<void> => {
      watch.looks++
      return new Promise((resolve) => setImmediate(resolve))
    },
    print: (line: string): void => void lines.push(line),
  }
  return watch
}

it('server and cache directory are gone: ends, and says what is lost', async () => {
  const [mount, watch] = [mountThat(false), makeWatch()]
  await closeUnlessLost(mount, gone, watch)
  expect(mount.abandon).toHaveBeenCalledOnce()
  expect(watch.lines).toEqual([expect.stringMatching(/3 operations \(70 bytes\) .* are lost/)])
})

it.each([
  ['the server is there', true, gone],
  ['the cache directory is there', false, undefined],
])('%s: goes on for as long as it takes', async (_, connected, given) => {
  const directory = given ?? mkdtempSync(join(tmpdir(), 'cairn-kept-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const [mount, watch] = [mountThat(connected), makeWatch()]
  const closing = closeUnlessLost(mount, directory, watch)
  await expect.poll(() => watch.looks).toBeGreaterThan(100)
  mount.finish()
  await closing
  expect(mount.abandon).not.toHaveBeenCalled()
  expect(watch.lines).toEqual([])
})
