import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface, type Interface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('lock-client.py', import.meta.url))

/** A process in a mount that locks files as it is told. */
export class LockClient {
  readonly child: ChildProcess
  readonly #lines: Interface
  readonly #answers: ((line: string) => void)[] = []

  constructor(directory: string) {
    this.child = spawn('python3', ['-u', program], {
      cwd: directory,
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    this.#lines = createInterface(this.child.stdout!)
    this.#lines.on('line', (line) => this.#answers.shift()?.(line))
  }

  /** One line in, one line out. */
  ask(command: string): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#answers.push(resolve)
      this.child.once('exit', () => reject(new Error(`the client ended: ${command}`)))
      this.child.stdin!.write(`${command}\n`)
    })
  }

  /** Resolves when it is gone, and its files are closed. */
  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return
    const ended = new Promise((resolve) => this.child.once('exit', resolve))
    this.child.kill('SIGKILL')
    await ended
  }
}
