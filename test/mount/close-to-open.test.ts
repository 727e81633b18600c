// What was closed on one mount is there when another one opens it, also while programs that seldom run look at it.
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noMount, Site, type SiteMount } from './fixture.ts'

/** For longer runs: `CAIRN_RUNS=50 npx vitest run test/mount/close-to-open`. */
const rounds = 60 * Number(process.env['CAIRN_RUNS'] ?? 1)
const slowPrograms = 3
const lookOn = `for (;;) try { require('node:fs').statSync('d/f') } catch {}`

describe.skipIf(noMount)(
  'two mounts that work, one of which has slow programs',
  { timeout: 3_600_000 },
  () => {
    let site: Site
    let a: SiteMount
    let b: SiteMount
    const programs: ChildProcess[] = []

    beforeAll(async () => {
      site = await Site.open()
      a = await site.mount('/')
      b = await site.mount('/')
      await a.sh('mkdir d; for i in 1 2 3 4 5 6; do echo $i > d/$i; done; echo 0 > d/f')
      await b.sh('mkdir e; for i in 1 2 3 4 5 6; do echo $i > e/$i; done')
      for (let count = 0; count < slowPrograms; count++) {
        const args = ['--idle', '0', process.execPath, '-e', lookOn]
        programs.push(spawn('chrt', args, { cwd: b.directory, stdio: 'inherit' }))
      }
    })
    afterAll(async () => {
      for (const program of programs) program.kill('SIGKILL')
      await site.close()
    })

    const save: Record<string, (text: string) => void> = {
      'saved under another name': (text) => {
        writeFileSync(a.path('d/f~'), text)
        renameSync(a.path('d/f~'), a.path('d/f'))
      },
      'cut and written': (text) => writeFileSync(a.path('d/f'), text),
      overwritten: (text) => writeFileSync(a.path('d/f'), text, { flag: 'r+' }),
    }

    it('a file that is saved in each of three ways is never shown old', () => {
      const ways = Object.entries(save)
      for (let round = 0; round < rounds; round++) {
        const [way, write] = ways[round % ways.length]!
        const text = `${round}`.padEnd(8)
        write(text)
        expect(readFileSync(b.path('d/f'), 'utf8'), `${way}, round ${round}`).toBe(text)
      }
    })
  },
)
