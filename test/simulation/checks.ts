import {
  type BatchBody,
  Branch,
  type Data,
  decodeBatch,
  genesis,
  hashOfRow,
  type LogRow,
  type Op,
  readFile,
  type Stores,
  type View,
} from '@cairn/core'
import { type BranchId, type Ino, rootIno } from '@cairn/protocol'
import { sha256 } from '@cairn/server'
import { applyToNames, type Client, type Submitted } from './client.ts'
import { judgeRequests } from './check-requests.ts'
import { logIno, logName, readTokens } from './shared-log.ts'
import type { World } from './world.ts'

interface Written {
  readonly branch: BranchId
  readonly row: LogRow
  readonly epoch: number
  readonly tag: number
}

/** What a world must look like when all is quiet. Gives what is wrong, in words. */
export async function findFaults(world: World): Promise<readonly string[]> {
  const faults = [...world.violations]
  const written = readAll(world)
  for (const client of world.clients) faults.push(...judgeClient(world, client, written))
  faults.push(...judgeOneOffs(world, written))
  faults.push(...judgeAppends(world, written))
  for (const branch of world.disk.log.logs.keys()) faults.push(...judgeChain(world, branch))
  faults.push(...judgeLeases(world, written))
  faults.push(...judgeSolitude(world))
  faults.push(...(await judgeReplicas(world)))
  return faults
}

/** Every batch of operations in every log, but for those that sessions close a number with. */
function readAll(world: World): readonly Written[] {
  const written: Written[] = []
  for (const [branch, rows] of world.disk.log.logs)
    for (const row of rows) {
      const { body, epoch, session } = decodeBatch(row.bytes)
      if (body.type !== 'ops' || body.ops.length === 0 || isReap(body)) continue
      const [first] = body.ops
      const time = first && 'time' in first ? first.time.sec : 0
      // A one-off has its tag for a key, a session's submission for the time of its operations.
      const tag = Number(/^http:.*:(\d+)$/.exec(session)?.[1] ?? time)
      written.push({ branch, row, epoch, tag })
    }
  return written
}

/** What a server does by itself, also under a lease: it takes away what no session has open. */
export function isReap(body: BatchBody): boolean {
  return body.type === 'ops' && body.ops.length > 0 && body.ops.every(({ type }) => type === 'reap')
}

function judgeClient(world: World, client: Client, written: readonly Written[]): readonly string[] {
  const own = new Set(client.submitted.map(({ tag }) => tag))
  const mine = written.filter(({ tag }) => own.has(tag))
  const faults = client.submitted.flatMap((submitted) =>
    judgeSubmitted(
      world,
      client,
      submitted,
      mine.filter(({ tag }) => tag === submitted.tag),
    ),
  )
  for (const branch of new Set(mine.map((one) => one.branch)))
    if (!isInOrder(client, branch, mine)) faults.push(`${client.name}: out of order in ${branch}`)
  return faults
}

/**
 * Numbers grow, and what was acknowledged stands in the order of acknowledging. What was not may come later than it was
 * submitted: refused once, its answer lost, it goes again under a new number.
 */
function isInOrder(client: Client, branch: BranchId, mine: readonly Written[]): boolean {
  const here = mine.filter((one) => one.branch === branch)
  const acknowledged = new Set(
    client.submitted.flatMap(({ tag, acknowledgedIn }) => (acknowledgedIn ? [tag] : [])),
  )
  return (
    isGrowing(here.map(({ row }) => row.number)) &&
    isGrowing(here.map(({ tag }) => tag).filter((tag) => acknowledged.has(tag)))
  )
}

function isGrowing(numbers: readonly number[]): boolean {
  return numbers.every((number, index) => number > (numbers[index - 1] ?? 0))
}

function judgeSubmitted(
  { main }: World,
  client: Client,
  { tag, outcome, acknowledgedIn }: Submitted,
  found: readonly Written[],
): readonly string[] {
  const places = found.map(({ branch, row }) => `${branch} ${row.seq}`).join(', ') || 'nowhere'
  const fault = (what: string): readonly string[] => [
    `${client.name} #${tag}: ${what}; it is ${places}`,
  ]
  if (found.length > 1) return fault('written twice')
  const [only] = found
  if (typeof outcome === 'object' && 'bad' in outcome) return fault(outcome.bad)
  if (typeof outcome === 'object')
    return only?.branch === main && only.row.seq === outcome.seq
      ? []
      : fault(`receipt ${outcome.seq}`)
  if (outcome === 'refused') return only ? fault('refused') : []
  if (outcome === 'rescued')
    return only?.branch.endsWith(`-${acknowledgedIn}`) && only.branch !== main
      ? []
      : fault(`rescued from ${acknowledgedIn}`)
  return client.isAlive ? fault('never answered') : []
}

function judgeOneOffs({ oneOffs, main }: World, written: readonly Written[]): readonly string[] {
  return oneOffs.flatMap(({ tag, outcome }) => {
    const found = written.filter((one) => one.tag === tag)
    const wanted = outcome === 'written' ? 1 : 0
    if (found.length === wanted && found.every(({ branch }) => branch === main)) return []
    return [`one-off #${tag}: ${outcome}, and ${found.length} times in the log`]
  })
}

/** Each request is in the log that it was for once, or not at all. */
function judgeAppends({ layerWork, main }: World, written: readonly Written[]): readonly string[] {
  return layerWork.requests.flatMap(({ tag, type, layer, outcome }) => {
    const found = written.filter((one) => one.tag === tag)
    const wanted = type === 'append' && outcome === 'done' ? 1 : 0
    const isThere = found.every(({ branch }) => (branch === main) === (layer === undefined))
    if (found.length === wanted && isThere) return []
    return [`${type} #${tag}: ${JSON.stringify(outcome)}, and ${found.length} times in the log`]
  })
}

function judgeChain(world: World, branch: BranchId): readonly string[] {
  let previous = genesis
  for (const [index, { seq, bytes, hash }] of world.rows(branch).entries()) {
    const batch = decodeBatch(bytes)
    if (batch.previous !== previous || batch.seq !== seq || seq !== index + 1)
      return [`${branch}: the chain breaks at ${seq}`]
    if (hashOfRow(bytes, sha256) !== hash) return [`${branch}: batch ${seq} has another hash`]
    previous = hash
  }
  return []
}

/**
 * While a lease of the whole branch is in force, no other session's batch comes between what its holder acknowledged. For one
 * that gives single directories back, the world looks at each batch.
 */
function judgeLeases(world: World, written: readonly Written[]): readonly string[] {
  const acknowledged = new Map<number, string>()
  for (const { submitted, name, shared } of world.clients)
    for (const { tag, acknowledgedIn } of submitted)
      if (acknowledgedIn !== undefined && !shared)
        acknowledged.set(tag, `${name} in ${acknowledgedIn}`)
  const faults: string[] = []
  const othersIn = new Map<number, number>()
  for (const { branch, tag, epoch, row } of written) {
    if (branch !== world.main) continue
    const holder = acknowledged.get(tag)
    const other = othersIn.get(epoch)
    if (holder === undefined) othersIn.set(epoch, row.seq)
    else if (other !== undefined && !isOwnBatch(world, holder, other))
      faults.push(`#${tag} of ${holder} comes after batch ${other} of another client`)
  }
  return faults
}

/** No other client wanted to write: then a client that was cut off finds everything as it was. */
function judgeSolitude({ clients, oneOffs, layerWork }: World): readonly string[] {
  const [only, ...others] = clients
  const requests = oneOffs.length + layerWork.requests.length
  if (!only || others.length > 0 || requests > 0) return []
  return only.submitted.some(({ outcome }) => outcome === 'rescued')
    ? [`${only.name} lost its lease, though no other client wanted it`]
    : []
}

function isOwnBatch(world: World, holder: string, seq: number): boolean {
  const client = world.clients.find(({ name }) => holder.startsWith(`${name} `))
  return world.rows(world.main)[seq - 1]?.session === client?.session.id
}

/**
 * The last client may still get the lease, in an epoch of its own: no one held it while the log got
 * these batches.
 */
async function judgeReplicas(world: World): Promise<readonly string[]> {
  for (;;) {
    const { length } = world.rows(world.main)
    const faults = await judgeReplicasNow(world)
    if (world.rows(world.main).length === length) return faults
  }
}

async function judgeReplicasNow(world: World): Promise<readonly string[]> {
  const { stores } = world.disk.open()
  const fresh = await Branch.open(stores, world.main)
  const { snapshot } = await fresh.head.fold()
  const faults = await stores.nodes.read(() => judgeNames(world, fresh))
  const texts = await readTexts(stores, fresh)
  faults.push(...judgeRequests(world.layerWork.requests, texts))
  faults.push(...judgeLog(world, texts.get(logName)))
  let left = world.servers.length
  for (const server of world.servers)
    void judgeServer(server.branch(), fresh, snapshot.root).then(
      (what) => {
        if (what) faults.push(`${server.name}: ${what}`)
        left--
      },
      (error: unknown) => {
        faults.push(`${server.name}: ${String(error)}`)
        left--
      },
    )
  if (!(await world.scheduler.run(() => left === 0, 60_000))) faults.push('a server does not fold')
  return faults
}

async function judgeServer(
  opened: Promise<Branch | 'died'>,
  fresh: Branch,
  root: string,
): Promise<string | undefined> {
  const branch = await opened
  if (branch === 'died') return 'is down'
  await branch.refresh()
  const folded = await branch.head.fold()
  if (folded.seq !== fresh.head.position.seq) return `is at ${folded.seq}`
  if (folded.snapshot.root !== root) return 'has another root'
  return undefined
}

/** The files that requests write to, by name. */
async function readTexts(
  { nodes, blobs }: Stores,
  { head }: Branch,
): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>()
  for (const { name, ino } of await nodes.read(() => namesOf(head.view)))
    if (name === logName || isOfLayer(name)) {
      const inode = await nodes.read(() => head.view.inode(ino)!)
      const bytes = await readFile(nodes, blobs, head.view, ino, inode)
      texts.set(name, new TextDecoder().decode(bytes))
    }
  return texts
}

/** Nothing that clients appended was overwritten, doubled or lost, and nothing else is there. */
function judgeLog(world: World, text: string | undefined): readonly string[] {
  if (world.conditions.appendsOneIn === 0) return []
  const tags = readTokens(text ?? '')
  if (!tags) return [`${logName} is damaged: ${text}`]
  const committed = new Set<string>()
  const expected = opsIn(world, world.main, committed).flatMap((op) =>
    (op.type === 'append' || op.type === 'write') && op.ino === logIno ? [tokenIn(op.data)] : [],
  )
  const [is, should] = [tags, readTokens(expected.join(''))!].map((all) =>
    all.toSorted((a, b) => a - b).join(' '),
  )
  return is === should ? [] : [`${logName} has ${is}, not ${should}`]
}

function tokenIn(data: Data): string {
  return data.type === 'bytes' ? new TextDecoder().decode(data.bytes) : ''
}

function namesOf(view: View): readonly { readonly name: string; readonly ino: Ino }[] {
  return view.entries(rootIno, undefined, 100_000)
}

/** Names of what layers make, which their commits bring. */
function isOfLayer(name: string): boolean {
  return name.startsWith('layer-')
}

/** The root directory has the names that the log and the commits in it tell of, and no others. */
function judgeNames(world: World, fresh: Branch): string[] {
  const names = new Map<string, Ino>()
  const committed = new Set<string>()
  for (const op of opsIn(world, world.main, committed)) applyToNames(names, op)
  const found = namesOf(fresh.head.view).map(({ name }) => name)
  const [is, should] = [found, [...names.keys()]].map((all) =>
    all
      .filter((name) => !isOfLayer(name))
      .sort()
      .join(' '),
  )
  const faults = is === should ? [] : [`the tree has ${is} instead of ${should}`]
  for (const { rescues, name } of world.clients)
    for (const { result, layer } of rescues)
      if ((result === 'committed') !== committed.has(layer))
        faults.push(`${name}: ${layer} is not ${result}`)
  return faults
}

function opsIn(world: World, branch: BranchId, committed: Set<string>): readonly Op[] {
  return world.rows(branch).flatMap(({ bytes }) => {
    const { body } = decodeBatch(bytes)
    if (body.type === 'ops') return body.ops
    if (body.type !== 'root') return []
    const { subject } = body.change
    if (!isRescue(subject)) return []
    if (committed.has(subject)) throw new Error(`${subject} is committed twice`)
    committed.add(subject)
    return opsIn(world, subject as BranchId, committed)
  })
}

/**
 * A layer of a holder that came back too late. Other layers are checked by what their requests
 * promised.
 */
function isRescue(branch: string): boolean {
  return branch.includes('/rescue')
}
