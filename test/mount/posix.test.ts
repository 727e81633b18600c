import { chmodSync } from 'node:fs'
import { afterAll, describe, it } from 'vitest'
import { hostSubjects } from '../posix/host.ts'
import { runPosixQuestions } from '../posix/suite.ts'
import { noMount, Site } from './fixture.ts'

if (noMount === undefined) {
  const site = await Site.open()
  const mount = await site.mount('/', '--allow-other')
  chmodSync(site.directory, 0o755)
  chmodSync(mount.path('..'), 0o755)
  afterAll(() => site.close())
  runPosixQuestions('mount', hostSubjects(mount.directory))
  if (process.geteuid?.() === 0) {
    const user = { uid: 1234, gid: 1234, groups: [] }
    const subjects = hostSubjects(mount.directory, user)
    runPosixQuestions('mount, asked by an ordinary user', subjects, { root: false })
  }
} else describe('mount', () => it.skip(`is not asked: ${noMount}`))
