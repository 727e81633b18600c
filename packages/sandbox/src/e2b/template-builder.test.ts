import { describe, expect, it } from 'vitest'
import { canServe, serveForTests } from '../../test/serve-for-test.ts'
import { E2BTemplateBuilder } from './template-builder.ts'

describe.skipIf(!canServe)('E2BTemplateBuilder', () => {
  const test = serveForTests()

  it('builds what a config says, and knows what there is', async () => {
    const { url: apiUrl, apiKey } = test.server
    const logs: string[] = []
    const built = await E2BTemplateBuilder.build(
      {
        alias: 'made-here',
        base: 'custom',
        dockerfile: 'FROM e2b/base',
        buildCommands: ['echo from the build > /tmp/../home/user/note'],
        workDir: '/srv/app',
      },
      { apiKey, apiUrl, onLog: (line) => logs.push(line) },
    )
    expect(built.alias).toBe('made-here')
    expect(logs.join('\n')).toContain('from the build')
    const sandbox = await test.e2b.Sandbox.create(built.templateId)
    const { stdout } = await sandbox.commands.run('pwd; cat ~/note')
    expect(stdout).toBe('/srv/app\nfrom the build\n')
    const { memoryMB, cpuCount } = await sandbox.getInfo()
    expect([memoryMB, cpuCount]).toEqual([512, 2])
    await expect(E2BTemplateBuilder.exists('made-here', { apiKey, apiUrl })).resolves.toBe(true)
    await expect(E2BTemplateBuilder.exists('nowhere', { apiKey, apiUrl })).resolves.toBe(false)
  })

  it('wants a Dockerfile for what it does not know', async () => {
    const custom = E2BTemplateBuilder.build({ alias: 'x', base: 'custom' }, { apiKey: 'e2b_x' })
    await expect(custom).rejects.toThrow(/dockerfile/)
  })
})
