import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { modules, root, run } from './run.mjs'

/** Brings what the tests need, once; throws an error that says what to do where it cannot. */
export function install() {
  installDebianPackages()
  installNpmPackages()
}

function installNpmPackages() {
  const stamp = join(modules, '.cairn-installed')
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return
  // Whatever the machine's settings say: the tools are dev dependencies, and the pinned Node arrives by
  // an install script (package.json allows no other). Errors only: npm would warn that the machine's own
  // Node is too old for tools that never run on it.
  if (!run('npm', ['ci', '--include=dev', '--ignore-scripts=false', '--loglevel=error'])) {
    throw new Error('cannot install the npm packages: npm ci failed. Its own words are above.')
  }
  writeFileSync(stamp, lock)
}

function installDebianPackages() {
  const wanted = parsePackageList(readFileSync(join(root, 'scripts/debian-packages.txt'), 'utf8'))
  const missing = wanted.filter((name) => !isDebianPackageInstalled(name))
  if (missing.length === 0) return
  const command = `apt-get install -y --no-install-recommends ${missing.join(' ')}`
  if (process.getuid?.() !== 0) {
    throw new Error(`cannot install Debian packages without root. Run: sudo ${command}`)
  }
  const silently = ['DEBIAN_FRONTEND=noninteractive', ...command.split(' ')]
  if (!run('apt-get', ['update']) || !run('env', silently)) {
    throw new Error(`cannot install Debian packages: apt-get failed. Try by hand: ${command}`)
  }
}

/**
 * @param {string} text one name a line; `#` begins a comment
 * @returns {string[]}
 */
export function parsePackageList(text) {
  return text
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim())
    .filter((name) => name !== '')
}

/** @param {string} name */
function isDebianPackageInstalled(name) {
  const { error, stdout } = spawnSync('dpkg-query', ['-W', '-f=${db:Status-Status}', name])
  // No dpkg, no Debian: there the reader of CONTRIBUTING.md installs the counterparts.
  return error !== undefined || String(stdout) === 'installed'
}
