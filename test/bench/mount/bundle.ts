import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Site } from '../../mount/fixture.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** The command as it is shipped, in a home of its own: a start from many source files would measure their loading. */
export class Bundle {
  readonly program: string
  readonly env: NodeJS.ProcessEnv

  private constructor(program: string, env: NodeJS.ProcessEnv) {
    this.program = program
    this.env = env
  }

  static build(directory: string, site: Site): Bundle {
    const target = join(directory, 'cli')
    const home = join(directory, 'home')
    mkdirSync(home)
    execFileSync(process.execPath, [join(root, 'packages/cli/scripts/bundle.mjs'), target])
    const native = join(root, 'packages/mount/native')
    const build = `import { buildFuseIo } from '${native}/build.mjs'; console.log(buildFuseIo())`
    const addon = execFileSync(process.execPath, ['--input-type=module', '-e', build], {
      encoding: 'utf8',
    }).trim()
    copyFileSync(addon, join(target, basename(addon)))
    return new Bundle(join(target, 'cairn.mjs'), {
      PATH: process.env['PATH'],
      HOME: home,
      CAIRN_SERVER: site.url,
      CAIRN_API_KEY: site.key,
      CAIRN_WORKSPACE: 'demo',
    })
  }

  run(...args: readonly string[]): void {
    execFileSync(process.execPath, [this.program, ...args], { env: this.env, stdio: 'pipe' })
  }
}
