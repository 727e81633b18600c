// From a fresh clone to a running example: `npm run quickstart`. Runs on any Node from 20 on and without packages,
// because it is what installs them; the example itself runs from its sources on the pinned Node.
import { spawn } from 'node:child_process'
import { installForExamples } from './install.mjs'
import { pinnedEnvironment, root, run } from './run.mjs'

const [program = '', ...args] = process.argv.slice(2)
try {
  installForExamples()
  if (isForE2B()) bundleCommand()
  start()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}

function isForE2B() {
  return args.some(
    (word, at) => word === '--provider=e2b' || (args[at - 1] === '--provider' && word === 'e2b'),
  )
}

/** Machines elsewhere get cairn as one file. */
function bundleCommand() {
  if (!run('node', ['packages/cli/scripts/bundle.mjs']))
    throw new Error('cannot make cairn one file: its own words are above. Try: npm run build')
}

/** Signals reach the example, too: it cleans up, and this waits for it. */
function start() {
  const child = spawn('node', ['--conditions=source', program, ...args], {
    cwd: root,
    env: pinnedEnvironment,
    stdio: 'inherit',
  })
  // Ctrl-C is sent to both by the terminal, a signal by hand to this one alone.
  process.on('SIGINT', () => undefined)
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  child.on('exit', (code) => (process.exitCode = code ?? 1))
}
