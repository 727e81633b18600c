// Types a block of commands into a terminal, and keeps what it shows.
import { spawnSync } from 'node:child_process'
import { stripVTControlCharacters } from 'node:util'

export const columns = 100

/** Between two commands. A program prints no such character. */
const mark = '\u0001'

/**
 * @typedef {object} Played
 * @property {string} command as it is typed
 * @property {string[]} lines what the terminal then shows, with its colours
 */

/**
 * @typedef {object} Terminal
 * @property {string} home is shown as `~`
 * @property {Record<string, string>} env
 * @property {readonly string[]} [enter] words in front of the terminal: those of a namespace, of a root directory
 */

/**
 * The lines of the block, one after the other, in one shell and in the home directory. Throws when a command fails.
 *
 * @param {string} block
 * @param {Terminal} terminal
 * @returns {Played[]}
 */
export function play(block, { home, env, enter = [] }) {
  const commands = block.split('\n').filter((line) => line !== '')
  const typed = commands.map((command) => `printf '${mark}'; ${command}`)
  const script = [`stty cols ${columns} rows 50`, 'cd ~', ...typed, `printf '${mark}'`].join('\n')
  const words = [...enter, 'script', '-qec', 'bash -ec "$SESSION"', '/dev/null']
  const ran = spawnSync('env', words, {
    env: { ...env, HOME: home, PAGER: 'cat', TERM: 'xterm-256color', SESSION: script },
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
    timeout: 300_000,
  })
  const shown = ran.stdout.replaceAll('\r', '').replaceAll(home, '~').split(mark)
  if (ran.status !== 0 || shown.length !== commands.length + 2)
    throw new Error(`a command of the session failed (${ran.status ?? ran.signal}):\n${ran.stdout}`)
  return commands.map((command, at) => ({ command, lines: linesOf(shown[at + 1] ?? '') }))
}

/** @param {string} text */
function linesOf(text) {
  const lines = text.split('\n')
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines
}

/**
 * What a reader of the terminal sees, without colours.
 *
 * @param {readonly Played[]} session
 */
export function transcript(session) {
  return session.flatMap(({ command, lines }) => [
    `$ ${command}`,
    ...lines.map((line) => stripVTControlCharacters(line)),
  ])
}
