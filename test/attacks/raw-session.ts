import { encodeBody, type Op } from '@cairn/core'
import { connectWebSocket, decodeInodesAnswer, type Wire } from '@cairn/mount'
import { rootIno, type SessionReply, type SessionRequest, sessionVersion } from '@cairn/protocol'
import { now, type RunningServer, until } from '../sessions/fixture.ts'

type Hello = Extract<SessionRequest, { type: 'hello' }>
type Reply<T extends SessionReply['type']> = Extract<SessionReply, { type: T }>
/** A question without its id, for any message that has one. */
type Question = SessionRequest extends infer Each
  ? Each extends { readonly id: number }
    ? Omit<Each, 'id'>
    : never
  : never

const standings = ['lease', 'among', 'shared', 'beside'] as const

/** Speaks the session protocol and keeps none of its rules: it says what a test tells it to say. */
export class RawSession {
  readonly heard: SessionReply[] = []
  /** Whether it says at once that it has done what it is asked to: give directories and room back, and forget. */
  obeys = false
  #wire: Wire | undefined
  #isClosed = false
  #lastId = 0
  #lastNumber = 0

  static async open(
    server: Pick<RunningServer, 'url'>,
    key: string,
    hello: Partial<Hello> = {},
  ): Promise<RawSession> {
    const raw = await RawSession.connect(server, key)
    raw.send({
      type: 'hello',
      version: sessionVersion,
      workspace: 'w',
      branch: 'main',
      mode: 'write',
      session: '',
      seq: Number.MAX_SAFE_INTEGER,
      path: '',
      ...hello,
    })
    await raw.hears('welcome')
    return raw
  }

  /** Without a hello. */
  static async connect(server: Pick<RunningServer, 'url'>, key: string): Promise<RawSession> {
    const raw = new RawSession()
    raw.#wire = await connectWebSocket(
      server.url,
      key,
    )({
      onReply: (reply) => raw.#hear(reply),
      onClose: () => (raw.#isClosed = true),
    })
    return raw
  }

  #hear(reply: SessionReply): void {
    this.heard.push(reply)
    const isAsked = reply.type === 'yield' || reply.type === 'forget' || reply.type === 'share'
    if (this.obeys && isAsked && reply.id > 0) this.send({ type: 'done', request: reply.id })
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  get id(): string {
    return this.#newest('welcome')!.session
  }

  send(request: SessionRequest): void {
    this.#wire!.send(request)
  }

  close(): void {
    this.#wire!.close()
  }

  /** Waits for a reply of that type, however long it takes. */
  async hears<T extends SessionReply['type']>(
    type: T,
    isIt: (reply: Reply<T>) => boolean = () => true,
  ): Promise<Reply<T>> {
    const find = (): Reply<T> | undefined =>
      this.heard.find((reply): reply is Reply<T> => reply.type === type && isIt(reply as Reply<T>))
    await until(() => (find() ?? this.#ending()) !== undefined)
    const found = find()
    if (!found) throw new Error(`no ${type} came: ${this.#ending()}`)
    return found
  }

  /** The epoch of the lease it is given. */
  async leaseEpoch(): Promise<number> {
    return (await this.hears('lease')).epoch
  }

  /** The epoch in which it was last told that it may write. */
  get standingEpoch(): number | undefined {
    const told = this.heard.findLast((reply): reply is Reply<(typeof standings)[number]> =>
      (standings as readonly string[]).includes(reply.type),
    )
    return told?.epoch
  }

  /** Inode numbers that it is given; the first of them. */
  async inodes(count: number): Promise<number> {
    return decodeInodesAnswer(await this.ask({ type: 'inodes', count })).first
  }

  /** `done`, or the code of the refusal. */
  async submit(epoch: number, ...ops: readonly Op[]): Promise<string> {
    const number = ++this.#lastNumber
    this.send({ type: 'submit', number, epoch, body: bodyOf(ops) })
    await until(() => (this.#answerTo(number) ?? this.#ending()) !== undefined)
    const answer = this.#answerTo(number)
    return answer?.type === 'refused' ? answer.code : answer ? 'done' : this.#ending()!
  }

  /** Those that it used over an earlier connection. */
  skipNumbers(count: number): void {
    this.#lastNumber += count
  }

  async ask(question: Question): Promise<Uint8Array> {
    const answer = await this.#answered(question)
    if (answer.type === 'answer') return answer.bytes
    throw new Error(`${answer.code}: ${answer.reason}`)
  }

  /** `done`, or the code of the failure. */
  async tries(question: Question): Promise<string> {
    const answer = await this.#answered(question)
    return answer.type === 'failure' ? answer.code : 'done'
  }

  /**
   * What the last message led to: an answer, the code of a refusal, or the end of the connection. `silence` where
   * nothing is awaited and the session goes on.
   */
  async outcome(isAwaited: boolean): Promise<string> {
    const isIt = ({ type }: SessionReply): boolean =>
      ['answer', 'failure', 'receipt', 'refused'].includes(type)
    // Answered behind the message, if the connection lasts that long.
    if (!isAwaited) this.send({ type: 'inode', id: Number.MAX_SAFE_INTEGER, ino: rootIno })
    await until(() => (this.heard.find(isIt) ?? this.#ending()) !== undefined)
    const [found, goodbye] = [this.heard.find(isIt), this.#newest('goodbye')]
    if (goodbye || !found) return this.#ending()!
    if (!isAwaited) return 'silence'
    return 'code' in found ? found.code : found.type
  }

  async #answered(question: Question): Promise<Reply<'answer' | 'failure'>> {
    const id = ++this.#lastId
    this.send({ ...question, id } as SessionRequest)
    const isIt = (reply: SessionReply): reply is Reply<'answer' | 'failure'> =>
      (reply.type === 'answer' || reply.type === 'failure') && reply.id === id
    await until(() => (this.heard.find(isIt) ?? this.#ending()) !== undefined)
    const found = this.heard.find(isIt)
    if (!found) throw new Error(`no answer came: ${this.#ending()}`)
    return found
  }

  #answerTo(number: number): Reply<'receipt' | 'refused'> | undefined {
    return this.heard.find(
      (reply): reply is Reply<'receipt' | 'refused'> =>
        (reply.type === 'receipt' || reply.type === 'refused') && reply.number === number,
    )
  }

  #newest<T extends SessionReply['type']>(type: T): Reply<T> | undefined {
    return this.heard.findLast((reply): reply is Reply<T> => reply.type === type)
  }

  #ending(): string | undefined {
    const goodbye = this.#newest('goodbye')
    if (goodbye) return goodbye.code
    return this.#isClosed ? 'closed' : undefined
  }
}

export function bodyOf(ops: readonly Op[]): Uint8Array {
  return encodeBody({ type: 'ops', ops }, now())
}
