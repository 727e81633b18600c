import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { modules, root, run } from './run.mjs'

/** Brings what the tests need, once; throws an error that says what to do where it cannot. */
export function install() {
  const { needed, wanted } = readPackageList()
  installMissing(needed)
  try {
    installMissing(wanted)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    console.error('Going on without: the tests that need them are skipped.')
  }
  installNpmPackages()
}

/** Brings what an example needs, unless it works already, wherever it came from. The tests need databases as well. */
export function installForExamples() {
  if (!canClone() || !canCompile()) installMissing(readPackageList().examples)
  installNpmPackages()
}

function canClone() {
  return spawnSync('git', ['--version']).status === 0
}

/** As packages/mount/native is compiled. A compiler without the headers of the C library is not enough. */
function canCompile() {
  const input = '#include <stdio.h>\n'
  return spawnSync('cc', ['-E', '-xc', '-'], { input }).status === 0
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

function readPackageList() {
  return parsePackageList(readFileSync(join(root, 'scripts/debian-packages.txt'), 'utf8'))
}

/** @param {readonly string[]} names */
function installMissing(names) {
  aptInstall(names.filter((name) => !isDebianPackageInstalled(name)))
}

/** @param {readonly string[]} names */
export function aptInstall(names) {
  if (names.length === 0) return
  const command = `apt-get install -y --no-install-recommends ${names.join(' ')}`
  if (process.getuid?.() !== 0) {
    throw new Error(`cannot install Debian packages without root. Run: sudo ${command}`)
  }
  const silently = ['DEBIAN_FRONTEND=noninteractive', ...command.split(' ')]
  const isInstalled = withoutServiceStarts(() => run('apt-get', ['update']) && run('env', silently))
  if (!isInstalled) {
    throw new Error(`cannot install Debian packages: apt-get failed. Try by hand: ${command}`)
  }
}

/**
 * Debian starts the servers it installs unless this file says no. The tests start their own, and the machine's
 * ports and memory are not ours to take.
 *
 * @template T
 * @param {() => T} work
 * @returns {T}
 */
function withoutServiceStarts(work) {
  const policy = '/usr/sbin/policy-rc.d'
  if (existsSync(policy)) return work()
  writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  try {
    return work()
  } finally {
    rmSync(policy)
  }
}

/**
 * @param {string} text one name a line; `#` begins a comment, `?` ends what tests can do without, `!` what examples need
 * @returns {{ needed: string[], wanted: string[], examples: string[] }}
 */
export function parsePackageList(text) {
  const names = text
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim())
    .filter((name) => name !== '')
  const endingWith = (/** @type {string} */ mark) =>
    names.filter((name) => name.endsWith(mark)).map((name) => name.slice(0, -1))
  const examples = endingWith('!')
  return {
    needed: [...examples, ...names.filter((name) => !/[?!]$/.test(name))],
    wanted: endingWith('?'),
    examples,
  }
}

/** @param {string} name */
function isDebianPackageInstalled(name) {
  const { error, stdout } = spawnSync('dpkg-query', ['-W', '-f=${db:Status-Status}', name])
  // No dpkg, no Debian: there the reader of CONTRIBUTING.md installs the counterparts.
  return error !== undefined || String(stdout) === 'installed'
}
