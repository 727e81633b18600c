import type { SessionReply, SessionRequest } from '@cairn/protocol'

/** What happened, in words. Kept only on request: most runs are never looked at. */
export class Trace {
  readonly lines: string[] = []
  readonly #nowMs: () => number
  readonly #isKept: boolean
  /** Names of sessions, whose ids differ from run to run. */
  readonly #names = new Map<string, string>()

  constructor(nowMs: () => number, isKept: boolean) {
    this.#nowMs = nowMs
    this.#isKept = isKept
  }

  name(id: string, name: string): void {
    this.#names.set(id, name)
  }

  note(line: () => string): void {
    if (!this.#isKept) return
    const time = this.#nowMs().toFixed(1).padStart(9)
    this.lines.push(`${time}  ${this.#readable(line())}`)
  }

  #readable(line: string): string {
    return line.replaceAll(/(\w+)([-_])[0-9a-f]{8}-[0-9a-f-]{27}/g, (id, sort: string) => {
      if (!this.#names.has(id)) this.#names.set(id, `${sort}${this.#names.size + 1}`)
      return this.#names.get(id)!
    })
  }
}

export function describeMessage(message: SessionRequest | SessionReply): string {
  const fields = Object.entries(message)
    .filter(([key]) => key !== 'type' && key !== 'workspace' && key !== 'version')
    .map(([key, value]) => `${key}=${describeField(key, value)}`)
  return [message.type, ...fields].join(' ')
}

function describeField(key: string, value: unknown): string {
  if (value instanceof Uint8Array) return `${value.length}b`
  if (key === 'hash') return '…'
  return String(value)
}
