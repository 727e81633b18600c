import { chmodSync } from 'node:fs'
import { afterAll, describe, it } from 'vitest'
import { hostSubjects } from '../posix/host.ts'
import { runPosixQuestions } from '../posix/suite.ts'
import { noMount, Site } from './fixture.ts'
import { runs } from './random/seeds.ts'

if (noMount === undefined) {
  const site = await Site.open()
  const layer = (...words: readonly string[]): Promise<unknown> =>
    site.cairn(['fs', 'layer', ...words])
  await layer('create', ':/', '--name', 'plan')
  await layer('fork', 'plan', '--name', 'step')
  await layer('fork', 'step', '--name', 'try')
  chmodSync(site.directory, 0o755)
  afterAll(() => site.close())
  const deepest = ['try', 'a layer of a layer of a layer'] as const
  for (const [name, what] of runs > 1 ? [['plan', 'a layer'] as const, deepest] : [deepest]) {
    const mount = await site.mount('/', '--layer', name, '--allow-other')
    chmodSync(mount.path('..'), 0o755)
    runPosixQuestions(`mount of ${what}`, hostSubjects(mount.directory))
  }
} else describe('mount of a layer', () => it.skip(`is not asked: ${noMount}`))
