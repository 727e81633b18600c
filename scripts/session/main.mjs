// Records the README's shell session as docs/images/session.svg: `npm run record`, as root, after `npm run build`.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from '../run.mjs'
import { play } from './play.mjs'
import { alone, readmeSession, sessionFile, sessionLabel } from './readme.mjs'
import { render } from './render.mjs'

const home = mkdtempSync(join(tmpdir(), 'cairn-session-'))
try {
  const path = [join(root, 'node_modules/.bin'), process.env['PATH']].join(':')
  const block = readmeSession(readFileSync(join(root, 'README.md'), 'utf8'))
  const session = play(block, { home, env: { PATH: path }, enter: alone })
  writeFileSync(sessionFile, render(session, sessionLabel))
  console.log(`recorded ${session.length} commands in ${sessionFile}`)
} finally {
  rmSync(home, { recursive: true, force: true })
}
