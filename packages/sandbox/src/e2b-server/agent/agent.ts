import type { Jail, JailProcess } from '../../jail/jail.ts'
import { AgentError } from './entry.ts'
import { FrameReader, writeFrame } from './frames.ts'
import { agentProgram } from './program.ts'

interface Answer {
  readonly error?: { readonly code: string; readonly message: string; readonly path: string }
}

/** One agent process in a jail. Serves one request at a time; after a failure of the pipe it is of no use. */
export class Agent {
  readonly #child: JailProcess
  readonly #frames: FrameReader
  #isBroken = false

  static async start(jail: Jail): Promise<Agent> {
    const process = await jail.start({
      args: ['/usr/bin/python3', '-I', '-S', '-c', agentProgram],
      env: { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' },
      cwd: '/',
      user: 'root',
      stdin: 'pipe',
    })
    return new Agent(process)
  }

  constructor(process: JailProcess) {
    this.#child = process
    this.#child.stdin?.on('error', () => (this.#isBroken = true))
    this.#child.stderr.resume()
    this.#frames = new FrameReader(this.#child.stdout)
    void this.#child.exit.then(() => (this.#isBroken = true))
  }

  get isBroken(): boolean {
    return this.#isBroken
  }

  async request<Result>(operation: object): Promise<Result> {
    await this.send(Buffer.from(JSON.stringify(operation)))
    return this.answer<Result>()
  }

  async send(bytes: Uint8Array): Promise<void> {
    const { stdin } = this.#child
    if (stdin === undefined || this.#isBroken) throw gone()
    await writeFrame(stdin, bytes)
  }

  async answer<Result>(): Promise<Result> {
    const answer = JSON.parse((await this.bytes()).toString()) as Result & Answer
    if (answer.error === undefined) return answer
    const { code, message, path } = answer.error
    throw new AgentError(code, message, path)
  }

  async bytes(): Promise<Buffer> {
    const frame = await this.#frames.next()
    if (frame !== undefined) return frame
    this.#isBroken = true
    throw gone()
  }

  end(): void {
    this.#isBroken = true
    this.#child.signal('SIGKILL')
  }
}

function gone(): AgentError {
  return new AgentError(
    'EIO',
    'the file agent of the sandbox is gone (it needs /usr/bin/python3)',
    '',
  )
}
