import { readFile } from 'node:fs/promises'
import type { Sandbox as E2BInstance } from 'e2b'
import { findSingleFile } from '../template/single-file.ts'
import { toResult } from './results.ts'

const place = '/usr/local/bin/cairn'
const timeoutMs = 60_000
/** The Node that runs it. */
const nodeMajorMin = 22

/** Puts cairn into a running sandbox, unless it is there. Its template needs Node and FUSE, and nothing of ours. */
export async function installCairn(e2b: E2BInstance): Promise<void> {
  const ask = (command: string): ReturnType<typeof toResult> =>
    toResult(e2b.commands.run(command, { user: 'root', cwd: '/', timeoutMs }))
  if ((await ask('command -v cairn')).code === 0) return
  const { stdout } = await ask('node --version')
  const major = Number(/^v(\d+)\./.exec(stdout)?.[1] ?? 0)
  if (major < nodeMajorMin)
    throw new Error(
      `the sandbox has ${major === 0 ? 'no Node' : `Node ${major}`}, and cairn needs ${nodeMajorMin} or newer. ` +
        'Use a template with it: cairn sandbox template --e2b',
    )
  const program = await readFile(await findSingleFile())
  await e2b.files.write(place, new Blob([program]), { user: 'root', gzip: true })
  const made = await ask(`chmod 0755 ${place} && cairn --version`)
  if (made.code !== 0) throw new Error(`cairn does not run in the sandbox: ${made.stderr.trim()}`)
}
