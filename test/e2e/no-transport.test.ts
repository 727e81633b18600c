import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'

const bundler = fileURLToPath(new URL('../../packages/cli/scripts/bundle.mjs', import.meta.url))

it('a mount on a machine that nothing native was shipped for says what to do', () => {
  const directory = mkdtempSync(join(tmpdir(), 'cairn-bare-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  execFileSync(process.execPath, [bundler, directory])
  for (const native of globSync(`${directory}/*.node`)) rmSync(native)
  const args = [join(directory, 'cairn.mjs'), 'mount', ':/', join(directory, 'work')]
  const env = { HOME: directory, PATH: process.env['PATH'] }
  const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
  expect(stderr).toMatch(
    /^cairn mount: cannot start a mount: no FUSE transport was shipped for .*\. Build cairn on such a machine: npm run build\.$/m,
  )
  expect(stderr).not.toContain('bug')
  expect(status).toBe(1)
})
