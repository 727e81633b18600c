import type { ByteString } from './bytes.ts'
import { CairnError } from './errors.ts'
import { parsePath } from './path.ts'

/** What a token may be allowed to do at a path. */
export const accessOperations = [
  'read',
  'list',
  'search',
  'write',
  'delete',
  'commit',
  'admin',
] as const
export type AccessOperation = (typeof accessOperations)[number]

/** At a path and at everything below it. */
export interface AccessRule {
  /** Normalized and absolute: `/`, `/repo/src`. */
  readonly prefix: ByteString
  readonly operations: readonly AccessOperation[]
}

/** What remains when nothing more is known. Rules add up; what is denied is denied whatever a rule says. */
export interface Grant {
  readonly rules: readonly AccessRule[]
  readonly deny: readonly ByteString[]
  /** The only layer there is for it, by id. */
  readonly layer?: string
  /** How much it may add in its whole life, all that were narrowed from it together. */
  readonly maxBytes?: number
  readonly maxFiles?: number
  /** Milliseconds since 1970. */
  readonly notAfterMs?: number
}

/** One step of narrowing. What it does not name stays as it was. */
export type Caveat = Partial<Grant>

/** What the owner of a workspace may do; every other grant is narrowed from it. */
export const wholeGrant: Grant = {
  rules: [{ prefix: '/', operations: accessOperations }],
  deny: [],
}

/** Exactly what both allow. Never wider than `grant`, whatever the caveat says. */
export function narrow(grant: Grant, caveat: Caveat): Grant {
  const isElsewhere =
    grant.layer !== undefined && caveat.layer !== undefined && grant.layer !== caveat.layer
  const rules = caveat.rules ? intersect(grant.rules, caveat.rules) : grant.rules
  const layer = grant.layer ?? caveat.layer
  return {
    rules: isElsewhere ? [] : rules,
    deny: [...new Set([...grant.deny, ...(caveat.deny ?? [])])].sort(),
    ...(layer === undefined ? {} : { layer }),
    ...least('maxBytes', grant, caveat),
    ...least('maxFiles', grant, caveat),
    ...least('notAfterMs', grant, caveat),
  }
}

type Bound = 'maxBytes' | 'maxFiles' | 'notAfterMs'

function least(bound: Bound, a: Caveat, b: Caveat): Caveat {
  const most = Math.min(a[bound] ?? Infinity, b[bound] ?? Infinity)
  return most === Infinity ? {} : { [bound]: most }
}

/** A path is below two prefixes when one of them is below the other: the longer one says it all. */
function intersect(a: readonly AccessRule[], b: readonly AccessRule[]): AccessRule[] {
  const found = new Map<ByteString, Set<AccessOperation>>()
  for (const one of a)
    for (const other of b) {
      const prefix = deeper(one.prefix, other.prefix)
      const both = one.operations.filter((operation) => other.operations.includes(operation))
      if (prefix === undefined || both.length === 0) continue
      const known = found.get(prefix) ?? new Set()
      for (const operation of both) known.add(operation)
      found.set(prefix, known)
    }
  return [...found].map(([prefix, known]) => ({ prefix, operations: inOrder(known) }))
}

function deeper(a: ByteString, b: ByteString): ByteString | undefined {
  if (isWithin(a, b)) return a
  return isWithin(b, a) ? b : undefined
}

function inOrder(known: ReadonlySet<AccessOperation>): AccessOperation[] {
  return accessOperations.filter((operation) => known.has(operation))
}

/** Whether `path` is `prefix` or below it, by segments: `/repo/src2` is not within `/repo/src`. */
export function isWithin(path: ByteString, prefix: ByteString): boolean {
  return prefix === '/' || path === prefix || path.startsWith(`${prefix}/`)
}

export function allows(grant: Grant, operation: AccessOperation, path: ByteString): boolean {
  if (isDenied(grant, path)) return false
  const has = (wanted: AccessOperation): boolean =>
    grant.rules.some(
      ({ prefix, operations }) => operations.includes(wanted) && isWithin(path, prefix),
    )
  // A caller without read access to a file learns nothing about its content.
  return has(operation) && (operation !== 'search' || has('read'))
}

/** The same for everything at and below a path: nothing in there is denied. */
export function allowsAll(grant: Grant, operation: AccessOperation, path: ByteString): boolean {
  return allows(grant, operation, path) && !grant.deny.some((denied) => isWithin(denied, path))
}

/** Whether a path lies on the way to something allowed. Of such a directory only the way is to be seen. */
export function isWay(grant: Grant, path: ByteString): boolean {
  return grant.rules.some(
    ({ prefix }) => prefix !== path && isWithin(prefix, path) && !isDenied(grant, prefix),
  )
}

/** Whether a path exists at all for the holder of the grant. */
export function isVisible(grant: Grant, path: ByteString): boolean {
  return isInScope(grant, path) || isWay(grant, path)
}

/** Whether anything at all is allowed there. */
export function isInScope(grant: Grant, path: ByteString): boolean {
  if (isDenied(grant, path)) return false
  return grant.rules.some(
    ({ prefix, operations }) => operations.length > 0 && isWithin(path, prefix),
  )
}

/** Whether there is no path that is hidden. */
export function seesAll(grant: Grant): boolean {
  return grant.deny.length === 0 && isInScope(grant, '/')
}

/** Whether somewhere writing is allowed and deleting is not: then it matters who created what. */
export function removesOwn(grant: Grant): boolean {
  return grant.rules.some(
    ({ prefix }) => allows(grant, 'write', prefix) && !allows(grant, 'delete', prefix),
  )
}

/** Whether an operation is allowed anywhere. */
export function allowsSomewhere(grant: Grant, operation: AccessOperation): boolean {
  return grant.rules.some(({ prefix }) => allows(grant, operation, prefix))
}

function isDenied({ deny }: Grant, path: ByteString): boolean {
  return deny.some((denied) => isWithin(path, denied))
}

/** `/repo/src:read,list`, as people type it. */
export function parseRule(text: string): AccessRule {
  const at = text.lastIndexOf(':')
  if (at < 1) throw invalid(text, 'want PREFIX:OPERATIONS, such as /repo/src:read,list')
  return makeRule(text.slice(0, at), text.slice(at + 1).split(','))
}

/** Checks user input; rejects a rule that could never be meant. */
export function makeRule(path: string, names: readonly string[]): AccessRule {
  const known = new Set<AccessOperation>()
  for (const name of names) {
    if (!isOperation(name))
      throw invalid(path, `'${name}' is none of ${accessOperations.join(', ')}`)
    known.add(name)
  }
  if (known.size === 0) throw invalid(path, 'no operation is named')
  if (known.has('search') && !known.has('read')) throw invalid(path, 'search needs read as well')
  return { prefix: parsePrefix(path), operations: inOrder(known) }
}

export function parsePrefix(path: string): ByteString {
  if (!path.startsWith('/')) throw invalid(path, 'a prefix begins with a slash')
  return `/${parsePath(path).join('/')}`
}

export function isOperation(name: string): name is AccessOperation {
  return (accessOperations as readonly string[]).includes(name)
}

function invalid(what: string, why: string): CairnError {
  return new CairnError('invalid_argument', { what: `allow '${what}'`, reason: why, subject: what })
}
