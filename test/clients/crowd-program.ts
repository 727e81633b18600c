import type { Chance } from '../model/chance.ts'
import type { ApiClient } from './api-client.ts'
import type { ClientName, Op, OpType } from './history.ts'
import { type Ledger, makeLine, makeVersion } from './ledger.ts'
import type { MountClient } from './mount-client.ts'

export const folders = ['one', 'two', 'three'] as const

export interface CrowdProgramParts {
  readonly name: string
  readonly client: MountClient | ApiClient
  readonly isApi: boolean
  readonly chance: Chance
  readonly ledger: Ledger
  /** The files of all programs that are written in versions. */
  readonly published: readonly string[]
  /** All processes live and are connected: each program sees what others were told is done. */
  readonly isCalm: boolean
  /** Answers that say nothing of what was done. */
  readonly lost: readonly string[]
}

const taken = ['EEXIST', 'precondition_failed']

/** A program that works in the same three directories as all others, and notes what it is told. */
export class CrowdProgram {
  readonly #parts: CrowdProgramParts
  #lines = 0
  #made = 0
  /** How often each answer came, by operation. */
  readonly counts = new Map<string, number>()

  constructor(parts: CrowdProgramParts) {
    this.#parts = parts
  }

  async workUntil(isOver: () => boolean): Promise<void> {
    const works = [
      () => this.#append(),
      () => this.#append(),
      () => this.#make(),
      () => this.#publish('now', 'patch'),
      () => this.#publish('new', 'save'),
      () => this.#look(),
      () => this.#look(),
      () => this.#move(),
      () => this.#playBall(),
    ]
    while (!isOver()) await this.#parts.chance.choose(works)()
  }

  async #take(type: OpType, path: string, { text = '', other = '' } = {}): Promise<string> {
    const { client, isApi, name } = this.#parts
    const who = (isApi ? 'http' : name) as ClientName
    const op: Op = { client: who, branch: 'main', type, path, other, text, offset: 0 }
    const answer = await client.take(op)
    const key = `${type} ${answer.slice(0, 20).replace(/^text.*/s, 'text')}`
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1)
    return answer
  }

  #isLost(answer: string): boolean {
    return this.#parts.lost.includes(answer)
  }

  /** Whether it is done for certain. Anything but success or a lost answer is a fault, unless it is `expected`. */
  #judge(what: string, answer: string, expected: readonly string[] = []): boolean {
    const { name, ledger } = this.#parts
    const isFault = answer !== 'ok' && !this.#isLost(answer) && !expected.includes(answer)
    if (isFault) ledger.fail(`${name} ${what}: ${answer}`)
    return answer === 'ok'
  }

  async #append(): Promise<void> {
    const { name, chance, ledger } = this.#parts
    const path = `${chance.choose(folders)}/log`
    const line = makeLine(name, this.#lines++)
    const answer = await this.#take('append', path, { text: `${line}\n` })
    if (this.#judge(`appends to ${path}`, answer) || this.#isLost(answer))
      ledger.noteLine(path, line, answer === 'ok')
  }

  /** All programs try the same names, one after the other. */
  async #make(): Promise<void> {
    const { name, ledger } = this.#parts
    const number = this.#made++
    const path = `${folders[number % folders.length]}/lock-${number}`
    const answer = await this.#take('exclusive', path, { text: name })
    if (this.#judge(`makes ${path}`, answer, taken) || this.#isLost(answer))
      ledger.noteMade(path, name, answer === 'ok')
  }

  /** A file of its own: in place, or as editors save. */
  async #publish(kind: 'now' | 'new', type: 'patch' | 'save'): Promise<void> {
    const { name, isApi, ledger, published } = this.#parts
    if (isApi && type === 'save') return
    const path = published.find((each) => each.endsWith(`/${kind}-${name}`))!
    const version = ledger.begin(path)
    const answer = await this.#take(type, path, { text: makeVersion(version) })
    if (this.#judge(`writes ${path}`, answer)) ledger.acknowledge(path, version)
  }

  /** What was acknowledged before must be seen. A server tells of what mounts have sent it, which may be less. */
  async #look(): Promise<void> {
    const { name, isApi, isCalm, chance, ledger, published } = this.#parts
    const path = chance.choose(published)
    const floor = isApi || !isCalm ? 0 : ledger.floorOf(path)
    const answer = await this.#take('read', path)
    if (!this.#isLost(answer)) ledger.judgeVersion(path, answer.slice('text '.length), floor, name)
  }

  async #move(): Promise<void> {
    const { name, chance, ledger } = this.#parts
    const own = `own-${name}`
    const [home, to] = [ledger.homeOf(own), chance.choose(folders)]
    if (home === to) return
    const answer = await this.#take('rename', `${home}/${own}`, { other: `${to}/${own}` })
    if (this.#judge(`moves ${own}`, answer, ['ENOENT'])) ledger.noteMoved(own, to, true)
    else ledger.noteMoved(own, home, false)
  }

  /** One of those that reach for it has it, and puts it somewhere else. */
  async #playBall(): Promise<void> {
    const { name, chance, lost } = this.#parts
    if (lost.length > 0) return
    const [from, to] = [chance.choose(folders), chance.choose(folders)]
    const mine = `${from}/ball-of-${name}`
    const answer = await this.#take('rename', `${from}/ball`, { other: mine })
    if (this.#judge('takes the ball', answer, ['ENOENT']))
      this.#judge('puts the ball', await this.#take('rename', mine, { other: `${to}/ball` }))
  }
}
