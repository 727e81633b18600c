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
} else describe('mount', () => it.skip(`is not asked: ${noMount}`))
