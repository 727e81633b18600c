// The marked blocks of README and guides do what they say: ```sh run, ```sh run fails=9, ```ts run.
import { execFile } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { play, transcript } from '../../scripts/session/play.mjs'
import { alone, readmeSession, sessionFile } from '../../scripts/session/readme.mjs'
import { textOf, withoutNumbers } from '../../scripts/session/render.mjs'
import { noMount } from '../mount/fixture.ts'
import { useCairn } from './run-cairn.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const guides = readdirSync(join(root, 'docs/guides')).map((name) => `docs/guides/${name}`)

interface Block {
  readonly language: string
  readonly exit: number
  readonly text: string
}

function blocksOf(document: string): Block[] {
  const text = readFileSync(join(root, document), 'utf8')
  const marked = text.matchAll(/^```(sh|ts) run(?: fails=(\d+))?\n([^]*?)^```/gm)
  return [...marked].map(([, language, exit, block]) => ({
    language: language!,
    exit: Number(exit ?? 0),
    text: block!,
  }))
}

const documents = [...guides, 'README.md'].filter((each) => blocksOf(each).length > 0)
/** Its shell commands start a server at port 7070, so they get a network of their own. */
const isTypedAlone = (document: string, { language }: Block): boolean =>
  document === 'README.md' && language === 'sh'

describe.skipIf(noMount)('the documents', () => {
  const cairn = useCairn()
  let scripts = ''
  let server = ''

  beforeAll(async () => {
    // Node strips no types below node_modules.
    scripts = mkdtempSync(join(tmpdir(), 'cairn-documents-'))
    symlinkSync(join(root, 'node_modules'), join(scripts, 'node_modules'))
    const serve = ['serve', '--background', '--listen', '127.0.0.1:0']
    server = (await cairn.json<{ url: string }>(...serve))[0]!.url
    const bin = join(cairn.home(), 'bin')
    mkdirSync(bin)
    const words = cairn.words().map((word) => `'${word}'`)
    writeFileSync(join(bin, 'cairn'), `#!/bin/sh\nexec ${words.join(' ')} "$@"\n`, { mode: 0o755 })
  })
  afterAll(async () => {
    await cairn.run(['down', '--force'])
    rmSync(scripts, { recursive: true })
  })

  const run = (
    file: string,
    args: readonly string[],
    cwd: string,
    more: object = {},
  ): Promise<Ran> =>
    new Promise((resolve) => {
      const path = [join(cairn.home(), 'bin'), process.env['PATH']].join(delimiter)
      const env = { HOME: cairn.home(), PATH: path, CAIRN_EXAMPLE_SERVER: server, ...more }
      execFile(file, args, { cwd, env }, (error, stdout, stderr) =>
        resolve({ exit: error === null ? 0 : Number(error.code ?? 1), said: stdout + stderr }),
      )
    })

  it.each(documents)('%s: every marked block works', async (document) => {
    const name = basename(document, '.md').toLowerCase()
    const place = join(cairn.home(), name)
    mkdirSync(place)
    await cairn.text('ws', 'create', name)
    await cairn.text('ctx', 'use', 'local', '--workspace', name)
    const blocks = blocksOf(document).filter((block) => !isTypedAlone(document, block))
    for (const [at, { language, exit, text }] of blocks.entries()) {
      const ran =
        language === 'sh'
          ? await run('bash', ['-euo', 'pipefail', '-c', text], place)
          : await runTypeScript(text, name, at, place)
      expect(ran.exit, `${text}\n${ran.said}`).toBe(exit)
    }
    for (const { mountPoint } of await cairn.json<{ mountPoint: string }>('mount', 'ls'))
      await cairn.text('umount', mountPoint)
  })

  it.skipIf(process.getuid?.() !== 0)(
    'README.md: a terminal shows what its picture shows',
    () => {
      const home = mkdtempSync(join(tmpdir(), 'cairn-session-'))
      const path = [join(cairn.home(), 'bin'), process.env['PATH']].join(delimiter)
      const readme = readFileSync(join(root, 'README.md'), 'utf8')
      const session = play(readmeSession(readme), { home, env: { PATH: path }, enter: alone })
      rmSync(home, { recursive: true })
      const recorded = textOf(readFileSync(sessionFile, 'utf8'))
      expect(withoutNumbers(transcript(session)), 'Record it again: npm run record').toBe(
        withoutNumbers(recorded),
      )
    },
    300_000,
  )

  async function runTypeScript(
    text: string,
    name: string,
    at: number,
    place: string,
  ): Promise<Ran> {
    const file = join(scripts, `${name}-${at}.mts`)
    writeFileSync(file, text)
    const key = readFileSync(join(cairn.home(), '.cairn/data/owner-key'), 'utf8').trim()
    const more = { CAIRN_SERVER: server, CAIRN_API_KEY: key, CAIRN_WORKSPACE: name }
    return run(process.execPath, ['--conditions=source', file], place, more)
  }
})

interface Ran {
  readonly exit: number
  readonly said: string
}
