import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const bin = (name: string): string => `${root}node_modules/.bin/${name}`

/** Tests run on the sources; users run what was compiled from them. */
describe('the built packages', () => {
  beforeAll(() => {
    execFileSync(bin('tsc'), ['-b'], { cwd: root, stdio: 'inherit' })
  }, 120_000)

  it.each(['protocol', 'core', 'server', 'sdk', 'mount'])(
    '@cairn/%s loads',
    (name) => {
      const script = `const all = await import('@cairn/${name}'); console.log(Object.keys(all).length > 0)`
      const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
        cwd: root,
      })
      expect(output.toString().trim()).toBe('true')
    },
    30_000,
  )
})
