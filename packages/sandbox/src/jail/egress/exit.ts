import { lookup } from 'node:dns/promises'
import type { RemoteInfo, Socket as Datagrams } from 'node:dgram'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { EgressRules, JailOutside } from '../jail.ts'
import { encodeAnswer, parseQuestion, type DnsQuestion, typeA } from './names.ts'
import { compileRules, type Policy } from './rules.ts'
import { sniffName } from './sniff.ts'

const sniffMs = 10_000

/**
 * The only way out of a jail's network: connections and questions for names come here, are judged, and go on from this
 * process. A jail that takes its firewall down has no way left at all.
 */
export class Exit {
  readonly #outside: JailOutside
  #policy: Policy

  constructor(rules: EgressRules, outside: JailOutside = thisMachine) {
    this.#outside = outside
    this.#policy = compileRules(rules)
  }

  set rules(rules: EgressRules) {
    this.#policy = compileRules(rules)
  }

  /** A connection that wanted to go there. */
  async admit(socket: Socket, address: string, port: number): Promise<void> {
    // A client may say all it has to say before it listens.
    socket.allowHalfOpen = true
    socket.on('error', () => socket.destroy())
    try {
      const target = await this.#judge(socket, address)
      if (target === undefined) return void socket.resetAndDestroy()
      join(socket, await this.#outside.connect(target, port))
    } catch {
      // No listener: report it as a network does.
      socket.resetAndDestroy()
    }
  }

  answer(names: Datagrams): void {
    names.on('error', () => undefined)
    names.on('message', (message: Buffer, from: RemoteInfo) => {
      const question = parseQuestion(message)
      if (question === undefined) return
      void this.#find(question).then((reply) => names.send(reply, from.port, from.address))
    })
  }

  /**
   * The address to go to, or undefined. A connection that is let through for its name goes where that name is, not where
   * the client says that it is.
   */
  async #judge(socket: Socket, address: string): Promise<string | undefined> {
    const policy = this.#policy
    const verdict = policy.judge(address)
    if (verdict !== 'ask') return verdict === 'allow' ? address : undefined
    const name = await readName(socket)
    if (name === undefined || !policy.allowsName(name)) return undefined
    const found = await this.#outside.resolve(name)
    return found.find((each) => policy.judge(each) !== 'deny')
  }

  async #find(question: DnsQuestion): Promise<Buffer> {
    if (!this.#policy.answersName(question.name)) return encodeAnswer(question, 'refused')
    if (question.type !== typeA) return encodeAnswer(question, 'answer')
    try {
      return encodeAnswer(question, 'answer', await this.#outside.resolve(question.name))
    } catch (error) {
      const isMissing = (error as NodeJS.ErrnoException).code === 'ENOTFOUND'
      return encodeAnswer(question, isMissing ? 'missing' : 'failed')
    }
  }
}

const thisMachine: JailOutside = {
  resolve: async (name) =>
    (await lookup(name, { all: true, family: 4 })).map(({ address }) => address),
  connect: (address, port) =>
    new Promise((resolve, reject) => {
      const socket = connect({ host: address, port, allowHalfOpen: true }, () => resolve(socket))
      socket.once('error', reject)
    }),
}

function join(inside: Socket, outside: Socket): void {
  outside.allowHalfOpen = true
  for (const [one, other] of [
    [inside, outside],
    [outside, inside],
  ] as const) {
    one.on('error', () => other.destroy())
    one.on('close', () => other.destroy())
    one.pipe(other)
  }
}

/** Put back what was read, for the next reader of the connection. */
async function readName(socket: Socket): Promise<string | undefined> {
  const late = new AbortController()
  const timeout = sleep(sniffMs, undefined, { signal: late.signal }).catch(() => undefined)
  const found = await Promise.race([timeout, readHead(socket)])
  late.abort()
  return found ?? undefined
}

function readHead(socket: Socket): Promise<string | undefined> {
  return new Promise((resolve) => {
    let head: Buffer = Buffer.alloc(0)
    const done = (name: string | undefined): void => {
      socket.off('data', take)
      socket.pause()
      socket.unshift(head)
      resolve(name)
    }
    const take = (chunk: Buffer): void => {
      head = Buffer.concat([head, chunk])
      const sniffed = sniffName(head)
      if (sniffed === 'more') return
      done(sniffed === 'none' ? undefined : sniffed.name)
    }
    socket.on('data', take)
    socket.once('close', () => resolve(undefined))
    socket.once('end', () => resolve(undefined))
  })
}
