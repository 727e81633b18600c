import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Site } from '../mount/fixture.ts'

const lines = (changed: number): string =>
  Array.from({ length: 20_000 }, (_, i) => `line ${i === changed ? 'new' : i}\n`).join('')

describe('the whole program in one bundle', () => {
  let site: Site
  beforeAll(async () => {
    site = await Site.open()
  })
  afterAll(() => site.close())

  it('the whole program in one bundle has the files that it starts as threads: large texts are compared', async () => {
    const file = join(site.directory, 'f')
    const put = async (content: string, ...where: string[]): Promise<void> => {
      writeFileSync(file, content)
      await site.cairn(['fs', 'cp', file, ':/f', ...where])
    }
    await put(lines(-1))
    await site.cairn(['fs', 'layer', 'create', ':/', '--name', 'try'])
    await put(lines(7000), '--layer', 'try')
    const { stdout } = await site.cairn(['fs', 'layer', 'diff', 'try', '--patch'])
    expect(stdout).toContain('-line 7000\n+line new\n')
  })
})
