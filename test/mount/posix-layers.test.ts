import { chmodSync } from 'node:fs'
import { afterAll, describe, it } from 'vitest'
import { hostSubjects } from '../posix/host.ts'
import { runPosixQuestions } from '../posix/suite.ts'
import { noMount, Site } from './fixture.ts'

if (noMount === undefined) {
  const site = await Site.open()
  const layer = (...words: readonly string[]): Promise<unknown> =>
    site.cairn(['fs', 'layer', ...words])
  await layer('create', ':/', '--name', 'plan')
  await layer('fork', 'plan', '--name', 'step')
  await layer('fork', 'step', '--name', 'try')
  const mount = await site.mount('/', '--layer', 'try', '--allow-other')
  chmodSync(site.directory, 0o755)
  chmodSync(mount.path('..'), 0o755)
  afterAll(() => site.close())
  runPosixQuestions('mount of a layer of a layer of a layer', hostSubjects(mount.directory))
} else describe('mount of a layer', () => it.skip(`is not asked: ${noMount}`))
