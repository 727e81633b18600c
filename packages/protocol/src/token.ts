import { fromBase64Url, toBase64Url } from './base64.ts'
import { type Caveat, type Grant, isOperation, narrow, wholeGrant } from './grant.ts'

/**
 * A token contains what it allows: `cairn_t1.ID.CAVEAT….SIGNATURE`. The first signature is an HMAC
 * of the first caveat under a key that only the server knows; each further one is an HMAC of the
 * next caveat under the signature before it. So a holder can add a caveat to a token, and can never
 * remove one.
 */
export interface TokenText {
  readonly id: string
  /** As they stand in the text: the signatures are over these characters. */
  readonly caveats: readonly string[]
  readonly signature: string
}

const prefix = 'cairn_t1'
export const tokenCharactersMax = 4096
const caveatsMax = 32
const signatureCharacters = 43

export function isToken(secret: string): boolean {
  return secret.startsWith(`${prefix}.`)
}

export function formatToken({ id, caveats, signature }: TokenText): string {
  return [prefix, id, ...caveats, signature].join('.')
}

/** Undefined for what is no token. Whether it is a true one only the server can say. */
export function parseToken(secret: string): TokenText | undefined {
  if (secret.length > tokenCharactersMax) return undefined
  const [first, id, ...rest] = secret.split('.')
  const signature = rest.pop()
  if (first !== prefix || id === undefined || !/^tok_[\w-]{1,64}$/.test(id)) return undefined
  if (signature?.length !== signatureCharacters || !fromBase64Url(signature)) return undefined
  if (rest.length === 0 || rest.length > caveatsMax) return undefined
  return { id, caveats: rest, signature }
}

/** What a token allows by its own words. Undefined when one of them cannot be understood: then it allows nothing. */
export function grantOfToken({ caveats }: Pick<TokenText, 'caveats'>): Grant | undefined {
  let grant = wholeGrant
  for (const text of caveats) {
    const caveat = decodeCaveat(text)
    if (!caveat) return undefined
    grant = narrow(grant, caveat)
  }
  return grant
}

/** Fields in one order only, so that equal caveats are equal texts. */
export function encodeCaveat(caveat: Caveat): string {
  const { rules, deny, layer, maxBytes, maxFiles, notAfterMs } = caveat
  const allow = rules?.map(({ prefix, operations }) => [prefix, operations.join()])
  const json = JSON.stringify({ allow, deny, layer, maxBytes, maxFiles, notAfterMs })
  return toBase64Url(new TextEncoder().encode(json))
}

const fields = new Set(['allow', 'deny', 'layer', 'maxBytes', 'maxFiles', 'notAfterMs'])

/** Undefined also for one with a field that this version does not know: passing it over would widen the token. */
export function decodeCaveat(text: string): Caveat | undefined {
  const json = parseJson(text)
  if (json === undefined || Object.keys(json).some((field) => !fields.has(field))) return undefined
  const { allow, deny, layer, maxBytes, maxFiles, notAfterMs } = json
  const rules = allow === undefined ? undefined : readRules(allow)
  const isSound =
    (allow === undefined || rules !== undefined) &&
    (deny === undefined || isPaths(deny)) &&
    (layer === undefined || typeof layer === 'string') &&
    [maxBytes, maxFiles, notAfterMs].every((count) => count === undefined || isCount(count))
  if (!isSound) return undefined
  return JSON.parse(
    JSON.stringify({ rules, deny, layer, maxBytes, maxFiles, notAfterMs }),
  ) as Caveat
}

function parseJson(text: string): Readonly<Record<string, unknown>> | undefined {
  const bytes = fromBase64Url(text)
  if (!bytes) return undefined
  try {
    const json: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    const isObject = typeof json === 'object' && json !== null && !Array.isArray(json)
    return isObject ? (json as Readonly<Record<string, unknown>>) : undefined
  } catch {
    return undefined
  }
}

function readRules(allow: unknown): Grant['rules'] | undefined {
  if (!Array.isArray(allow)) return undefined
  const rules = allow.map((rule: unknown) => {
    const [path, names] = Array.isArray(rule) && rule.length === 2 ? rule : []
    if (!isPath(path) || typeof names !== 'string') return undefined
    const operations = names.split(',').filter(isOperation)
    return operations.join() === names ? { prefix: path, operations } : undefined
  })
  return rules.includes(undefined) ? undefined : (rules as Grant['rules'])
}

function isPaths(value: unknown): boolean {
  return Array.isArray(value) && value.every(isPath)
}

function isPath(value: unknown): value is string {
  return typeof value === 'string' && (value === '/' || /^(\/[^/]+)+$/.test(value))
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
