import { randomBytes } from 'node:crypto'
import type { Jail } from '../../jail/jail.ts'
import { AgentError } from '../agent/entry.ts'
import { watchProgram } from '../agent/watch-program.ts'
import { linesOf } from '../lines.ts'

export interface WatchRequest {
  readonly path: string
  readonly recursive: boolean
  readonly allowNetworkMounts: boolean
  /** Whether each event comes with the entry that it is about. */
  readonly includeEntry: boolean
}

export interface WatchEvent {
  /** Relative to the watched directory. */
  readonly name: string
  readonly type: 'CREATE' | 'WRITE' | 'REMOVE' | 'RENAME' | 'CHMOD'
}

interface Line extends Partial<WatchEvent> {
  readonly started?: true
  readonly error?: { readonly code: string; readonly message: string; readonly path: string }
}

export interface Watch {
  readonly events: AsyncIterable<WatchEvent>
  end(): void
}

interface PolledWatch {
  readonly watch: Watch
  readonly options: WatchRequest
  events: WatchEvent[]
}

/** Events that are not fetched are dropped, oldest first. */
const polledMax = 10_000

/** Directories that are watched, each by a program in the jail. */
export class Watchers {
  readonly #jail: Jail
  readonly #polled = new Map<string, PolledWatch>()

  constructor(jail: Jail) {
    this.#jail = jail
  }

  /** Resolves when every later change will be told. */
  async watch({ path, recursive, allowNetworkMounts }: WatchRequest): Promise<Watch> {
    const flags = [recursive, allowNetworkMounts].map((flag) => (flag ? '1' : '0'))
    const process = await this.#jail.start({
      args: ['/usr/bin/python3', '-I', '-S', '-c', watchProgram, path, ...flags],
      env: { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' },
      cwd: '/',
      user: 'root',
    })
    process.stderr.resume()
    const lines = linesOf(process.stdout)
    const end = (): void => process.signal('SIGKILL')
    try {
      await untilStarted(lines, path)
    } catch (error) {
      end()
      throw error
    }
    return { events: eventsOf(lines), end }
  }

  /** For callers that ask now and then instead of listening. */
  async poll(options: WatchRequest): Promise<string> {
    const watch = await this.watch(options)
    const id = randomBytes(8).toString('hex')
    const polled: PolledWatch = { watch, options, events: [] }
    this.#polled.set(id, polled)
    // Its followers get no more events; a sandbox that sends nonsense harms only itself.
    collect(polled).catch(() => watch.end())
    return id
  }

  /** What has happened since the last time, and what was asked for. */
  take(id: string): { readonly events: WatchEvent[]; readonly options: WatchRequest } | undefined {
    const polled = this.#polled.get(id)
    return polled && { events: polled.events.splice(0), options: polled.options }
  }

  endPoll(id: string): boolean {
    this.#polled.get(id)?.watch.end()
    return this.#polled.delete(id)
  }
}

async function untilStarted(lines: AsyncIterator<string>, path: string): Promise<void> {
  const first = await lines.next()
  const { started, error } = first.done ? {} : (JSON.parse(first.value) as Line)
  if (error !== undefined) throw new AgentError(error.code, error.message, error.path)
  if (started === undefined) throw new AgentError('EIO', 'cannot be watched', path)
}

async function* eventsOf(lines: AsyncIterator<string>): AsyncIterable<WatchEvent> {
  for (let line = await lines.next(); !line.done; line = await lines.next())
    yield JSON.parse(line.value) as WatchEvent
}

async function collect({ watch, events }: PolledWatch): Promise<void> {
  for await (const event of watch.events) {
    events.push(event)
    if (events.length > polledMax) events.shift()
  }
}
