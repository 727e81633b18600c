// A daemon that dies between doing and saying so: the kernel asks the next one again, which must not do it again.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noMount, Site, type SiteMount } from './fixture.ts'

const prepare = 'echo 1 > f; echo 2 > g'
const exchange = `python3 -c 'import ctypes; raise SystemExit(ctypes.CDLL(None).renameat2(-100, b"f", -100, b"g", 2))'`
const attribute = `python3 -c 'import os; os.setxattr("f", "user.new", b"value", os.XATTR_CREATE)'`
const showAttribute = `python3 -c 'import os; print(os.getxattr("f", "user.new"))'`

/** What a local directory shows after the same. */
function onDisk(change: string, look: string): string {
  const cwd = mkdtempSync(join(tmpdir(), 'cairn-once-'))
  try {
    const script = `${prepare}; ${change}; ${look}`
    return execFileSync('/bin/sh', ['-ec', script], { cwd, encoding: 'utf8' })
  } finally {
    rmSync(cwd, { recursive: true })
  }
}

const inWork = (mount: SiteMount) => (script: string) => mount.sh(`cd work; ${script}`)

describe.skipIf(noMount)('done at the server, and its daemon dies before it says so', () => {
  let site: Site
  let a: SiteMount
  let b: SiteMount

  beforeAll(async () => {
    site = await Site.open()
    a = await site.mount('/')
    b = await site.mount('/')
  })
  afterAll(() => site.close())

  const newest = async (): Promise<number> => {
    const url = `${site.url}/v1/workspaces/demo/log?limit=1&order=newest`
    const answer = await fetch(url, { headers: { authorization: `Bearer ${site.key}` } })
    const { items } = (await answer.json()) as { items: readonly { seq: number }[] }
    return items[0]!.seq
  }

  it.each([
    ['a line that is appended is there once', 'echo line >> f', 'cat f g'],
    ['two names that change places do so once', exchange, 'cat f g'],
    ['an attribute that must be new was', attribute, showAttribute],
    ['a directory is made', 'mkdir d', 'ls'],
    ['a name that must be new was', 'set -C; echo x > x', 'cat x'],
    ['a file moves', 'mv f h', 'ls; cat h'],
    ['a file is removed', 'rm f', 'ls'],
    ['a file gets another name', 'ln f h', 'ls; stat -c %h f'],
  ])('%s', async (_, change, look) => {
    await a.sh('rm -rf work; mkdir work')
    const [writer, reader] = [inWork(a), inWork(b)]
    await writer(prepare)
    await reader('cat f g')
    const [{ pid }, other] = [await a.status(), await b.status()]
    expect([await newest(), other.standing]).toEqual([expect.any(Number), 'shared'])
    const before = await newest()
    // A change is answered once the other has taken it in. It will not before this daemon is dead.
    process.kill(other.pid, 'SIGSTOP')
    const changed = writer(change)
    await expect.poll(newest).toBeGreaterThan(before)
    process.kill(pid, 'SIGKILL')
    process.kill(other.pid, 'SIGCONT')
    await changed
    const expected = onDisk(change, look)
    expect(await writer(look)).toBe(expected)
    expect(await reader(look)).toBe(expected)
  })
})
