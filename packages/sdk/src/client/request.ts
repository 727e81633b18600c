import { collect, type OpenAnswer } from './answer.ts'
import { CairnError, readErrorBody } from './error.ts'

type QueryValue = string | number | boolean | readonly string[] | undefined
/** A list is sent as several of the same name. */
export type Query = Readonly<Record<string, QueryValue>>

/** One request, before anything is known of the server it goes to. */
export interface ApiCall {
  /** Follows "cannot" in messages: `read /a.txt`. */
  readonly what: string
  readonly method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE'
  /** Percent-encoded, after `/v1`. */
  readonly path: string
  readonly query?: Query
  readonly headers?: Readonly<Record<string, string | undefined>>
  /** One that can be sent again: never a stream. */
  readonly body?: string | Uint8Array | Blob
  /** Instead of a body, what makes one: asked again for each attempt. */
  readonly stream?: () => AsyncIterable<Uint8Array>
  /** Statuses of 400 and above that are answers, not failures. */
  readonly expected?: readonly number[]
  /** Set for a mutation that can be repeated as it is, without a key. */
  readonly repeatable?: boolean
}

export function jsonBody(value: unknown): Required<Pick<ApiCall, 'body' | 'headers'>> {
  return { body: JSON.stringify(value), headers: { 'content-type': 'application/json' } }
}

export function urlOf(server: string, { path, query = {} }: ApiCall): string {
  const parameters = Object.entries(query)
    .flatMap(([name, value]) => [value].flat().map((each) => [name, each] as const))
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
  return `${server}/v1${path}${parameters.length > 0 ? `?${parameters.join('&')}` : ''}`
}

/** Who asks. */
export interface ApiCaller {
  readonly apiKey: string
  readonly toolCall?: string | undefined
}

/** Names in small letters. No `Headers`: in Node those bring all of `fetch` with them. */
export function headersOf(call: ApiCall, { apiKey, toolCall }: ApiCaller): Record<string, string> {
  const headers: Record<string, string> = {}
  const given = {
    authorization: `Bearer ${apiKey}`,
    ...call.headers,
    'x-cairn-tool-call': toolCall,
  }
  for (const [name, value] of Object.entries(given))
    if (value !== undefined) headers[name] = requirePrintable(call, name, value)
  if (call.method !== 'GET' && call.repeatable !== true)
    headers['idempotency-key'] ??= newIdempotencyKey()
  return headers
}

function requirePrintable({ what }: ApiCall, name: string, value: string): string {
  if (/^[\t\x20-\x7e]*$/.test(value)) return value
  const hint = 'Headers take printable ASCII only.'
  const reason = `the value of a header (${name}) is not one`
  throw new CairnError('invalid_argument', { what, reason, hint })
}

/** 128 bits. `crypto.randomUUID` is missing from pages that were not loaded over https. */
function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Throws what an answer that says no means. */
export async function checkAnswer(call: ApiCall, answer: OpenAnswer): Promise<void> {
  const { status, statusText, headers } = answer.response
  if (status < 400 || call.expected?.includes(status) === true) return
  const { what } = call
  const exchange = { what, status, retryAfterMs: retryAfterMs(headers) }
  const text = new TextDecoder().decode(await collect(answer))
  const error = readErrorBody(text, exchange)
  if (error !== undefined) throw error
  const reason = `HTTP ${status} ${statusText}`.trim()
  throw new CairnError('bad_answer', { ...exchange, reason })
}

/** Seconds only: a date would need a clock that agrees with the server's. */
function retryAfterMs(headers: Headers): number | undefined {
  const value = headers.get('retry-after') ?? ''
  return /^\d+$/.test(value) ? Number(value) * 1000 : undefined
}

/** `fetch` says no more than "fetch failed"; what happened is deeper down. */
export function describeCause(cause: unknown): string {
  let deepest = cause
  while (deepest instanceof Error && deepest.cause instanceof Error) deepest = deepest.cause
  if (!(deepest instanceof Error)) return String(deepest)
  // Node tries each address of a name, and then has a list of errors and no message.
  if (deepest instanceof AggregateError && deepest.message === '')
    return deepest.errors.map(describeCause).join(', ')
  return deepest.message || deepest.name
}
