import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const program = fileURLToPath(new URL('run.ts', import.meta.url))

it('loads without a test runner, and names the benchmarks there are', () => {
  const args = ['--conditions=source', program, 'absent']
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  expect(stderr).toContain("bench: there is no 'absent'. There are: core, server, mount,")
  expect(status).toBe(2)
})
