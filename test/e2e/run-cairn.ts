import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { askShared } from '@cairn/server/testing'
import { afterAll, beforeAll } from 'vitest'

export interface Ran {
  readonly code: number | null
  readonly stdout: Buffer
  readonly stderr: string
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string | Uint8Array
}

export interface CairnCommand {
  /** The home of the user who runs it. */
  readonly home: () => string
  /** The words that run it in a shell. */
  readonly words: () => readonly string[]
  /** Starts the command as a process of its own. */
  readonly start: (args: readonly string[], env?: RunOptions['env']) => ChildProcess
  readonly run: (args: readonly string[], options?: RunOptions) => Promise<Ran>
  /** What it prints, after it has succeeded. */
  readonly text: (...args: string[]) => Promise<string>
  /** What it prints with --json, one value a line. */
  readonly json: <T>(...args: string[]) => Promise<T[]>
  /** The JSON error on stderr, after it has failed. */
  readonly error: (...args: string[]) => Promise<{ code: string; errno?: string; exit: number }>
}

/** The command as users get it: bundled, in a process of its own, with a home of its own. */
export function useCairn(): CairnCommand {
  let bundle = ''
  let home = ''
  beforeAll(async () => {
    bundle = (await askShared<string>('command'))!
    home = mkdtempSync(join(tmpdir(), 'cairn-home-'))
  })
  afterAll(() => rmSync(home, { recursive: true }))

  const words = (): string[] => [process.execPath, '--conditions=source', join(bundle, 'cairn.mjs')]

  const start: CairnCommand['start'] = (args, env = {}) => {
    const [file, ...first] = words()
    const { PATH, NODE_COMPILE_CACHE } = process.env
    const child = spawn(file!, [...first, ...args], {
      env: { HOME: home, PATH, NODE_COMPILE_CACHE, ...env },
      cwd: home,
    })
    // It may end without having read everything.
    child.stdin.on('error', () => {})
    return child
  }

  const run: CairnCommand['run'] = async (args, { env, stdin = '' } = {}) => {
    const child = start(args, env)
    child.stdin!.end(stdin)
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
    const [stdout, stderr] = await Promise.all([buffer(child.stdout!), buffer(child.stderr!)])
    return { code: await ended, stdout, stderr: stderr.toString() }
  }

  const text = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(args)
    if (code !== 0) throw new Error(`cairn ${args.join(' ')} ended with ${code}: ${stderr}`)
    return stdout.toString()
  }

  return {
    home: () => home,
    words,
    start,
    run,
    text,
    json: async <T>(...args: string[]) => {
      const lines = (await text(...args, '--json')).split('\n').filter((line) => line !== '')
      return lines.map((line) => JSON.parse(line) as T)
    },
    error: async (...args) => {
      const { code, stdout, stderr } = await run([...args, '--json'])
      if (code === 0) throw new Error(`cairn ${args.join(' ')} succeeded: ${stdout.toString()}`)
      const { error } = JSON.parse(stderr) as { error: { code: string; errno?: string } }
      return { ...error, exit: code ?? -1 }
    },
  }
}
