import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import { type Duplex, PassThrough, type Readable } from 'node:stream'
import { type JailCommand, type JailExit, type JailProcess, JailStartError } from './jail.ts'
import { readLines } from './lines.ts'
import { ordinaryUser } from './users.ts'

/** Where and under whose count a program is started. */
export interface Inside {
  readonly helper: string
  readonly pid: number
  readonly doors: readonly string[]
}

/** Resolves once the program runs. */
export async function startInside(inside: Inside, command: JailCommand): Promise<JailProcess> {
  const child = spawn(inside.helper, argumentsOf(inside, command), {
    env: { ...command.env },
    cwd: '/',
    stdio: [command.stdin === 'pipe' || command.pty ? 'pipe' : 'ignore', 'pipe', 'pipe', 'pipe'],
  })
  const program = new Program(child, command)
  await program.started
  return program
}

function argumentsOf(inside: Inside, command: JailCommand): string[] {
  const { pty, cwd = '', user = ordinaryUser.name, args } = command
  const size = pty === undefined ? '' : `${pty.columns}x${pty.rows}`
  return ['exec', `${inside.pid}`, user, cwd, size, ...inside.doors, '--', ...args]
}

/** A program in a jail, by way of the helper that started it and waits for it. */
class Program implements JailProcess {
  readonly stdin?: NonNullable<JailProcess['stdin']>
  readonly stdout: Readable
  readonly stderr: Readable
  readonly exit: Promise<JailExit>
  readonly started: Promise<void>
  pid = 0
  readonly #control: Duplex

  constructor(child: ChildProcess, command: JailCommand) {
    if (child.stdin) {
      this.stdin = child.stdin
      // Who writes to a program that has ended learns it from `exit`.
      child.stdin.on('error', () => undefined)
    }
    this.stdout = keep(child.stdout!)
    this.stderr = keep(child.stderr!)
    this.#control = child.stdio[3] as Duplex
    this.#control.on('error', () => undefined)
    const started = Promise.withResolvers<void>()
    const exit = Promise.withResolvers<JailExit>()
    this.started = started.promise
    this.exit = exit.promise
    const gone = new JailStartError('jail', `cannot start ${command.args[0]}: the jail has ended`)
    readLines(this.#control, (line) => {
      const [word, first = '', ...rest] = line.split(' ')
      if (word === 'start') this.pid = Number(first)
      if (word === 'start') started.resolve()
      if (word === 'fail') started.reject(explain(command, first, rest))
      if (word === 'exit') exit.resolve({ code: Number(first), signal: null })
      if (word === 'signal') exit.resolve({ code: null, signal: signalName(Number(first)) })
    })
    child.once('error', (error) => started.reject(error))
    // Killed with the jail, or before it became the program, it says nothing.
    this.#control.once('close', () => {
      started.reject(gone)
      exit.resolve({ code: null, signal: 'SIGKILL' })
    })
  }

  signal(name: NodeJS.Signals): void {
    this.#tell(`signal ${constants.signals[name]}`)
  }

  resize(columns: number, rows: number): void {
    this.#tell(`size ${columns} ${rows}`)
  }

  #tell(line: string): void {
    if (this.#control.writable) this.#control.write(`${line}\n`)
  }
}

/**
 * When a child has ended, Node discards output that is not read yet. The end of a short program can
 * be known before its start, and so before a listener exists.
 */
function keep(stream: Readable): Readable {
  const kept = new PassThrough()
  stream.on('error', () => kept.end()).on('close', () => kept.end())
  return stream.pipe(kept)
}

function signalName(number: number): NodeJS.Signals {
  const found = Object.entries(constants.signals).find(([, value]) => value === number)
  return (found?.[0] ?? 'SIGKILL') as NodeJS.Signals
}

function explain(command: JailCommand, step: string, rest: readonly string[]): JailStartError {
  const [errno, ...what] = rest
  const cannot = `cannot start ${command.args[0]}`
  if (step === 'user')
    return new JailStartError('user', `${cannot}: there is no user ${command.user}`)
  if (step === 'cwd')
    return new JailStartError('cwd', `${cannot} in ${what.join(' ')}: ${describe(Number(errno))}`)
  return new JailStartError(
    'jail',
    `${cannot}: ${step} ${what.join(' ')}: ${describe(Number(errno))}`,
  )
}

function describe(errno: number): string {
  const found = Object.entries(constants.errno).find(([, value]) => value === errno)
  return found?.[0] ?? `errno ${errno}`
}
