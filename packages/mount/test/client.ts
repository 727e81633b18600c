import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

/** What a program in the mount runs: node:fs as `fs`, the mount as `dir`, a call of libc as `libc`. */
const prelude = `
const fs = require('node:fs')
const dir = process.argv[1]
const koffi = require('koffi')
const library = koffi.load(null)
const libc = (prototype) => library.func(prototype)
`

export interface Client {
  readonly child: ChildProcess
  /** What the body returned. Rejects with what it threw, or with the signal that ended it. */
  readonly result: Promise<unknown>
  /** Settles when the body has said `say()`. */
  readonly said: Promise<void>
  go(): void
}

/**
 * Runs the body of an async function in another process, because a daemon never touches its own mount. In the
 * body, `say()` tells that it got there, and `listen()` waits for `go`.
 */
export function startClient(dir: string, body: string): Client {
  const source = `${prelude}
const say = () => fs.writeSync(1, '\\n')
const listen = () => fs.readSync(0, Buffer.alloc(1))
;(async () => { ${body} })().then(
  (value) => fs.writeSync(3, JSON.stringify({ value: value ?? null })),
  (error) => fs.writeSync(3, JSON.stringify({ error: error.code ?? String(error.stack) })),
)`
  const child = spawn(process.execPath, ['-e', source, dir], {
    // Where koffi is found, and outside the mount.
    cwd: import.meta.dirname,
    stdio: ['pipe', 'pipe', 'inherit', 'pipe'],
  })
  const said = once(child.stdout!, 'data').then(() => undefined)
  return { child, said, result: readResult(child), go: () => void child.stdin!.end('\n') }
}

async function readResult(child: ChildProcess): Promise<unknown> {
  let text = ''
  child.stdio[3]!.on('data', (data: Buffer) => (text += data.toString()))
  const [, signal] = (await once(child, 'close')) as [number | null, string | null]
  if (signal !== null) throw new Error(`ended by ${signal}`)
  const { value, error } = JSON.parse(text) as { value: unknown; error?: string }
  if (error !== undefined) throw new Error(error)
  return value
}

export function runClient(dir: string, body: string): Promise<unknown> {
  return startClient(dir, body).result
}
