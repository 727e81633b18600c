import type { Jail } from '../../jail/jail.ts'
import { Agent } from './agent.ts'
import type { AgentEntry, AgentUser } from './entry.ts'

const idleMax = 3

export interface Owner {
  readonly uid: number
  readonly gid: number
}

export interface OpenFile {
  readonly size: number
  readonly mtimeNs: string
  /** Once: either a part of it, or nothing at all. */
  read(start: number, length: number): AsyncIterable<Buffer>
  close(): void
}

/** The files of a jail. Each request has an agent of its own while it lasts, so that one that hangs holds up no other. */
export class Agents {
  readonly #jail: Jail
  readonly #idle: Agent[] = []
  readonly #users = new Map<string, AgentUser>()

  constructor(jail: Jail) {
    this.#jail = jail
    // Started ahead of the first request, which then finds it ready.
    void Agent.start(jail).then(
      (agent) => this.#giveBack(agent),
      () => {},
    )
  }

  async user(name: string): Promise<AgentUser> {
    const known = this.#users.get(name)
    if (known !== undefined) return known
    const found = await this.#ask<Omit<AgentUser, 'name'>>({ op: 'user', name })
    const user = { ...found, name }
    this.#users.set(name, user)
    return user
  }

  async stat(path: string): Promise<AgentEntry> {
    return (await this.#ask<{ entry: AgentEntry }>({ op: 'stat', path })).entry
  }

  async list(path: string, depth: number): Promise<AgentEntry[]> {
    return (await this.#ask<{ entries: AgentEntry[] }>({ op: 'list', path, depth })).entries
  }

  mkdir(path: string, owner: Owner): Promise<{ made: boolean; entry: AgentEntry }> {
    return this.#ask({ op: 'mkdir', path, ...ids(owner) })
  }

  async move(source: string, destination: string, owner: Owner): Promise<AgentEntry> {
    const request = { op: 'move', source, destination, ...ids(owner) }
    return (await this.#ask<{ entry: AgentEntry }>(request)).entry
  }

  async remove(path: string): Promise<void> {
    await this.#ask({ op: 'remove', path })
  }

  async compose(sources: readonly string[], path: string, owner: Owner): Promise<AgentEntry> {
    const request = { op: 'compose', sources, path, ...ids(owner) }
    return (await this.#ask<{ entry: AgentEntry }>(request)).entry
  }

  disk(): Promise<{ total: number; used: number }> {
    return this.#ask({ op: 'disk' })
  }

  async write(
    path: string,
    owner: Owner,
    metadata: Readonly<Record<string, string>>,
    content: AsyncIterable<Uint8Array>,
  ): Promise<AgentEntry> {
    return this.#with(async (agent) => {
      await agent.send(jsonOf({ op: 'write', path, metadata, ...ids(owner) }))
      try {
        for await (const bytes of content) if (bytes.length > 0) await agent.send(bytes)
      } catch (error) {
        // Half a body must not look like a whole one.
        agent.end()
        throw error
      }
      await agent.send(Buffer.alloc(0))
      return (await agent.answer<{ entry: AgentEntry }>()).entry
    })
  }

  async open(path: string): Promise<OpenFile> {
    const agent = await this.#take()
    try {
      const { size, mtimeNs } = await agent.request<{ size: number; mtimeNs: string }>({
        op: 'read',
        path,
      })
      const close = (): void => agent.end()
      return { size, mtimeNs, close, read: (start, length) => this.#read(agent, start, length) }
    } catch (error) {
      this.#giveBack(agent)
      throw error
    }
  }

  async *#read(agent: Agent, start: number, length: number): AsyncIterable<Buffer> {
    let isWhole = false
    try {
      await agent.send(jsonOf({ start, length }))
      for (;;) {
        const bytes = await agent.bytes()
        if (bytes.length === 0) break
        yield bytes
      }
      isWhole = true
    } finally {
      if (isWhole) this.#giveBack(agent)
      else agent.end()
    }
  }

  #ask<Result>(operation: object): Promise<Result> {
    return this.#with((agent) => agent.request<Result>(operation))
  }

  async #with<Result>(use: (agent: Agent) => Promise<Result>): Promise<Result> {
    const agent = await this.#take()
    try {
      return await use(agent)
    } finally {
      this.#giveBack(agent)
    }
  }

  async #take(): Promise<Agent> {
    for (;;) {
      const idle = this.#idle.pop()
      if (idle === undefined) return Agent.start(this.#jail)
      if (!idle.isBroken) return idle
    }
  }

  #giveBack(agent: Agent): void {
    if (agent.isBroken) return
    if (this.#idle.length < idleMax) this.#idle.push(agent)
    else agent.end()
  }
}

const ids = ({ uid, gid }: Owner): Owner => ({ uid, gid })

const jsonOf = (value: object): Buffer => Buffer.from(JSON.stringify(value))
