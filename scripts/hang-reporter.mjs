import { readdirSync, readFileSync } from 'node:fs'

/**
 * A test and its hooks have their own limits, of a minute each: this is for a worker that is too
 * blocked to notice them.
 */
const silenceMs = 10 * 60_000

/**
 * What this file needs of a test file as vitest has it.
 *
 * @typedef {object} Module
 * @property {string} moduleId
 * @property {() => string} state `pending` while it runs
 */

/**
 * Ends a run that hangs, and says where. A test that waits inside a system call blocks the process that would end it for
 * taking too long, and the run would wait for ever.
 */
export default class HangReporter {
  /** @type {Map<string, NodeJS.Timeout>} */
  #timers = new Map()
  /** @type {(text: string) => void} */
  #giveUp

  /** @param {{ giveUp?: (text: string) => void }} options */
  constructor({ giveUp = exitWith }) {
    this.#giveUp = giveUp
  }

  /** @param {Module} module */
  onTestModuleStart(module) {
    this.#expectNews(module, 'its first test')
  }

  /** @param {{ module: Module, fullName: string }} test */
  onTestCaseResult({ module, fullName }) {
    this.#expectNews(module, `what comes after ‘${fullName}’`)
  }

  /**
   * @param {Module} module
   * @param {string} where
   */
  #expectNews(module, where) {
    const { moduleId } = module
    clearTimeout(this.#timers.get(moduleId))
    const tell = () => {
      // Asked then, and not noted before: the last test of a file may be told after its end.
      if (module.state() !== 'pending') return
      this.#giveUp(`${moduleId} hangs in ${where}.\nProcesses:\n${describeProcesses()}`)
    }
    this.#timers.set(moduleId, setTimeout(tell, silenceMs).unref())
  }
}

/** @param {string} text */
function exitWith(text) {
  console.error(text)
  for (const pid of processes())
    if (statOf(pid).parent === process.pid) process.kill(Number(pid), 'SIGKILL')
  process.exit(1)
}

function processes() {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name))
}

/** @param {string} pid */
function statOf(pid) {
  // The name of the program comes before and may hold anything.
  const [state = '?', parent = '0'] = read(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? []
  return { state, parent: Number(parent) }
}

/** Who is there, and what each thread that waits in a file system waits for. */
function describeProcesses() {
  return processes().flatMap(describeProcess).join('\n')
}

/** @param {string} pid */
function describeProcess(pid) {
  const command = read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim()
  // A thread of the kernel, or gone.
  if (command === '') return []
  const { state, parent } = statOf(pid)
  return [`${pid} of ${parent} ${state} ${command.slice(0, 200)}`, ...waitingThreads(pid)]
}

/** @param {string} pid */
function waitingThreads(pid) {
  return list(`/proc/${pid}/task`)
    .map((thread) => read(`/proc/${pid}/task/${thread}/stack`))
    .filter((stack) => stack.includes('fuse'))
    .map((stack) => stack.replaceAll(/^/gm, '    '))
}

/** @param {string} path */
function read(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** @param {string} path */
function list(path) {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}
