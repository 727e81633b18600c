import { Chance } from '../model/chance.ts'
import { ordinaryRequests } from './ordinary-requests.ts'
import type { RawRequest } from './raw-http.ts'

/** Requests that no client should send, the same ones for the same seed. */

export interface HostileRequest extends RawRequest {
  readonly method: string
  /** It is a request by the letter of HTTP: something must be answered. */
  readonly isWhole: boolean
}

const methods = ['GET', 'GET', 'PUT', 'PUT', 'POST', 'POST', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']
const strangeMethods = ['TRACE', 'PROPFIND', 'get', 'FOO', 'M-SEARCH', '']

const names = [
  'a',
  'd',
  '..',
  '.',
  '%2e%2e',
  '%2E%2e%2f..',
  '%00',
  'a%00b',
  '%ff%fe',
  '%c0%ae%c0%ae',
  '%',
  '%zz',
  '%2',
  '%252e%252e',
  'x'.repeat(255),
  'x'.repeat(256),
  '%ff'.repeat(256),
  '%F0%9F%98%80',
  ' ',
  '+',
  ';',
  '\\',
  '"',
  '<script>',
  '__proto__',
  'constructor',
  '\xff\xfe',
  '\x01',
]

const numbers = [
  '0',
  '1',
  '-1',
  '1.5',
  '1e9',
  '1e400',
  '9007199254740991',
  '9007199254740993',
  '99999999999999999999999999',
  'NaN',
  'Infinity',
  '0x10',
  '',
  ' 1',
  '१',
]

const queryNames = [
  'limit',
  'after',
  'before',
  'cursor',
  'since',
  'until',
  'branch',
  'layer',
  'at',
  'mode',
  'path',
  'pathBytes',
  'actor',
  'order',
  'unknown',
  '__proto__',
  'stat',
  'list',
  'history',
  'recursive',
  'follow',
  'parents',
  'append',
  'mkdir',
  'move',
  'copy',
  'chmod',
  'symlink',
  'link',
  'touch',
]

const verbs = ['mkdir', 'move', 'copy', 'chmod', 'symlink', 'link', 'touch', 'append']

const values: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  '',
  '/',
  '/a',
  '/../a',
  '/\0',
  '/\ud800',
  'x'.repeat(300),
  `/${'y/'.repeat(3000)}`,
  '0644',
  '99999',
  '9223372036854775807',
  '-9999999999999999999',
  'L/8=',
  '====',
  [],
  {},
  [[]],
  { toString: 1 },
]

const fieldNames = [
  'to',
  'toBytes',
  'target',
  'targetBytes',
  'path',
  'pathBytes',
  'mode',
  'parents',
  'noReplace',
  'mtimeNs',
  'size',
  'name',
  'operations',
  'op',
  'text',
  'base64',
  'ifMatch',
  '__proto__',
  'constructor',
]

const headerLines: readonly string[] = [
  'Range: bytes=0-1',
  'Range: bytes=99999999999999999999-',
  'Range: bytes=-0',
  'Range: lines=1',
  'Content-Range: bytes 0-2/*',
  'Content-Range: bytes 9007199254740990-9007199254740992/*',
  'Content-Range: bytes 5-1/*',
  'Content-Range: bytes 99999999999999999999-99999999999999999999/*',
  'If-Match: *',
  'If-Match: "x"',
  'If-None-Match: *',
  'If-None-Match: "x"',
  'If-None-Match: W/"x", "y"',
  'Idempotency-Key: k',
  `Idempotency-Key: ${'k'.repeat(129)}`,
  'Idempotency-Key: \xff',
  'Last-Event-ID: x',
  'Last-Event-ID: 1e999',
  'X-Request-Id: \x7f',
  'Content-Type: application/json',
  'Content-Type: multipart/form-data; boundary=',
  'Content-Type: ;;;',
  'Content-Encoding: gzip',
  'Expect: 100-continue',
  'Expect: something',
  'Accept: \x00',
  'Host: a b',
  `X-Large: ${'h'.repeat(8000)}`,
  `X-Larger: ${'h'.repeat(17_000)}`,
  'no colon',
  ': no name',
  'X Y: z',
  'Transfer-Encoding: gzip',
  'Content-Length: 5, 5',
]

/** One of three is wild; the others are right but for a thing or two, so that they get further in. */
export function hostileRequest(seed: number, key: string): HostileRequest {
  const chance = new Chance(seed)
  return chance.oneIn(3) ? wildRequest(chance, key) : bentRequest(chance, key)
}

function wildRequest(chance: Chance, key: string): HostileRequest {
  const method = chance.oneIn(20) ? chance.choose(strangeMethods) : chance.choose(methods)
  const target = url(chance)
  const authorization = chance.oneIn(12) ? wrongKey(chance) : `Authorization: Bearer ${key}`
  const lines = Array.from({ length: chance.below(3) }, () => chance.choose(headerLines))
  const { bytes, header, isWhole } = framed(chance, body(chance))
  const version = chance.oneIn(40)
    ? chance.choose(['HTTP/1.0', 'HTTP/2.0', 'HTTP/1', ''])
    : 'HTTP/1.1'
  const head = [`${method} ${target} ${version}`, authorization, ...header, ...lines]
  const whole = request(head, bytes)
  if (chance.oneIn(8)) return cut(chance, whole, method)
  return { parts: pieces(chance, whole), end: isWhole ? 'wait' : 'half-close', method, isWhole }
}

function bentRequest(chance: Chance, key: string): HostileRequest {
  const {
    method,
    path,
    query: parameters = [],
    header,
    body: sent,
  } = chance.choose(ordinaryRequests)
  const bend = chance.below(5)
  const segments = path.split('/')
  if (bend === 0) segments[segments.length - 1] = chance.choose(names)
  if (bend === 1) segments.push(chance.choose(names))
  const asked = bend === 2 ? [...parameters, parameter(chance)] : parameters
  const json = bend === 3 && sent ? bentBody(chance, sent) : sent
  const lines = [...(header ? [header] : []), ...(bend === 4 ? [chance.choose(headerLines)] : [])]
  const bytes = Buffer.from(
    json !== undefined ? JSON.stringify(json) : method === 'PUT' ? 'content' : '',
  )
  const target = `/v1/workspaces/w${segments.join('/')}${asked.length > 0 ? `?${asked.join('&')}` : ''}`
  const head = [
    `${method} ${target} HTTP/1.1`,
    `Authorization: Bearer ${key}`,
    `Content-Length: ${bytes.length}`,
    ...lines,
  ]
  return { parts: pieces(chance, request(head, bytes)), end: 'wait', method, isWhole: true }
}

function bentBody(chance: Chance, sent: object): unknown {
  return chance.oneIn(4) ? chance.choose([null, [], 7, 'x']) : { ...sent, ...fields(chance) }
}

function request(head: readonly string[], bytes: Buffer): Buffer {
  const [first, ...lines] = head
  const all = [first, 'Host: localhost', ...lines, 'Connection: close']
  return Buffer.concat([Buffer.from(`${all.join('\r\n')}\r\n\r\n`, 'latin1'), bytes])
}

function wrongKey(chance: Chance): string {
  return chance.choose([
    'X-None: 1',
    'Authorization: Bearer',
    'Authorization: Basic YTpi',
    `Authorization: Bearer ${'k'.repeat(chance.below(700))}`,
    'Authorization: Bearer \xff\xff\xff\xff\xff\xff\xff\xff\xff',
  ])
}

function url(chance: Chance): string {
  const base = chance.oneIn(15) ? chance.choose(names) : 'w'
  const path = Array.from({ length: chance.below(4) }, () => chance.choose(names)).join('/')
  const routes = [
    `/v1/workspaces/${base}/files/${path}`,
    `/v1/workspaces/${base}/files/${path}`,
    `/v1/workspaces/${base}/files//${path}/`,
    `/v1/workspaces/${base}/batch`,
    `/v1/workspaces/${base}/log`,
    `/v1/workspaces/${base}/uploads`,
    `/v1/workspaces/${base}/uploads/${chance.choose(names)}/blocks/${chance.choose(numbers)}`,
    `/v1/workspaces/${base}/uploads/${chance.choose(names)}/complete`,
    // Not the one that all others are about, which DELETE would take away.
    `/v1/workspaces/${base === 'w' ? 'none' : base}`,
    '/v1/workspaces',
    `/v1/${path}`,
    `/${path}`,
    '*',
    `http://elsewhere/v1/workspaces/w/files/${path}`,
  ]
  const route = chance.choose(routes)
  return route + query(chance, route)
}

function query(chance: Chance, route: string): string {
  const parameters = Array.from({ length: chance.below(4) }, () => parameter(chance))
  if (route.includes('/files') && chance.oneIn(3)) parameters.unshift(chance.choose(verbs))
  const text = parameters.join(chance.oneIn(10) ? '&&' : '&')
  return text === '' ? '' : `?${text}`
}

function parameter(chance: Chance): string {
  const name = chance.choose(queryNames)
  const value = chance.oneIn(3) ? chance.choose(names) : chance.choose([...numbers, '', 'true'])
  return chance.oneIn(4) ? name : `${name}=${value}`
}

function body(chance: Chance): Buffer {
  switch (chance.below(6)) {
    case 0:
      return Buffer.alloc(0)
    case 1:
      return Buffer.from(Array.from({ length: chance.below(300) }, () => chance.below(256)))
    case 2:
      return Buffer.from(
        chance.choose(['{', 'null', '[', '"', '{"to":', '[]', '7', '\xff', '{}{}']),
      )
    case 3:
      return Buffer.from('['.repeat(chance.below(20_000)))
    case 4:
      return Buffer.from(JSON.stringify({ operations: [fields(chance), fields(chance)] }))
    default:
      return Buffer.from(JSON.stringify(fields(chance)))
  }
}

function fields(chance: Chance): object {
  const count = chance.below(5)
  const entries = Array.from({ length: count }, () => [
    chance.choose(fieldNames),
    chance.choose(values),
  ])
  const op = chance.oneIn(2) ? [['op', chance.choose([...verbs, 'write', 'remove', 'fly'])]] : []
  return Object.fromEntries([...entries, ...op]) as object
}

interface Framed {
  readonly header: readonly string[]
  readonly bytes: Buffer
  readonly isWhole: boolean
}

/** A body with a length that is right, or not. */
function framed(chance: Chance, bytes: Buffer): Framed {
  const length = (value: string | number): string[] => [`Content-Length: ${value}`]
  switch (chance.below(10)) {
    case 0:
      return { header: length(bytes.length + 1 + chance.below(50)), bytes, isWhole: false }
    case 1:
      return { header: length(Math.max(0, bytes.length - 3)), bytes, isWhole: true }
    case 2:
      return { header: length(chance.choose(numbers)), bytes, isWhole: false }
    case 3:
      return {
        header: ['Transfer-Encoding: chunked'],
        bytes: chunked(chance, bytes),
        isWhole: true,
      }
    case 4:
      return { header: ['Transfer-Encoding: chunked'], bytes, isWhole: false }
    case 5:
      return { header: [...length(bytes.length), ...length(7)], bytes, isWhole: false }
    default:
      return { header: length(bytes.length), bytes, isWhole: true }
  }
}

function chunked(chance: Chance, bytes: Buffer): Buffer {
  const at = chance.below(bytes.length + 1)
  const chunks = [bytes.subarray(0, at), bytes.subarray(at)].filter(({ length }) => length > 0)
  const framedChunks = chunks.flatMap((chunk) => [
    Buffer.from(`${chunk.length.toString(16)}\r\n`),
    chunk,
    Buffer.from('\r\n'),
  ])
  return Buffer.concat([...framedChunks, Buffer.from('0\r\n\r\n')])
}

function cut(chance: Chance, whole: Buffer, method: string): HostileRequest {
  const part = whole.subarray(0, chance.below(whole.length))
  const end = chance.oneIn(2) ? 'half-close' : 'reset'
  return { parts: [part], end, method, isWhole: false }
}

function pieces(chance: Chance, whole: Buffer): readonly Buffer[] {
  const at = chance.below(whole.length + 1)
  return [whole.subarray(0, at), whole.subarray(at)]
}
