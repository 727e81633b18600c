import { Chance } from '../model/chance.ts'

/** Two mounts of main, one of a layer, bare HTTP without keys or retries, and the SDK. */
export const mountNames = ['m1', 'm2', 'l1'] as const
export type MountName = (typeof mountNames)[number]
export type ClientName = MountName | 'http' | 'sdk'
export const layerNames = ['one', 'two'] as const
export type LayerName = (typeof layerNames)[number]
export type BranchName = 'main' | LayerName

const edits = ['write', 'append', 'exclusive', 'patch', 'unlink', 'copy'] as const
const mountEdits = ['save', 'truncate'] as const
const moves = ['rename', 'link', 'mkdir', 'rmdir', 'renameDirectory'] as const
const held = ['hold', 'appendHeld', 'readHeld', 'letGo'] as const
const layerWork = ['commit', 'rebase', 'rollback'] as const

export type OpType =
  | (typeof edits)[number]
  | (typeof mountEdits)[number]
  | (typeof moves)[number]
  | (typeof held)[number]
  | (typeof layerWork)[number]
  | 'read'
  | 'list'
  /** Another layer and another mount in the place of one that was committed. */
  | 'renew'

/** Plain data, so that it can be printed, kept, shortened and played again. */
export interface Op {
  readonly client: ClientName
  readonly branch: BranchName
  readonly type: OpType
  readonly path: string
  readonly other: string
  readonly offset: number
  readonly text: string
}

export interface Turn {
  /** Started together. */
  readonly ops: readonly Op[]
  /** Killed with SIGKILL while they run, and started again. */
  readonly kill?:
    | 'server'
    | 'database'
    | { readonly daemon: MountName }
    | { readonly both: MountName }
}

export type History = readonly Turn[]

const short = ['repo/a', 'repo/b', 'repo/c']
const boxed = ['box/x', 'box/y', 'box/d/x', 'box/e/x']
/** Only one client at a time writes here: the kernel cuts long appends, and others may land in between. */
const long = 'repo/long'
/** Around a page, what rides in a batch, and a block. */
const lengths = [1, 100, 4095, 4096, 5000, 70_000, 262_144]
const offsets = [0, 1, 7, 4096, 5000]
const turnsPerKill = 12

/** With `killsDatabase` every other kill is one of the database server. */
export function makeHistory(seed: number, turns: number, killsDatabase = false): History {
  const chance = new Chance(seed)
  return Array.from({ length: turns }, (_, index) => makeTurn(chance, index, killsDatabase))
}

function makeTurn(chance: Chance, index: number, killsDatabase: boolean): Turn {
  const isKill = index % turnsPerKill === turnsPerKill - 1
  const kill = isKill ? makeKill(chance, killsDatabase) : undefined
  const count = kill || chance.oneIn(2) ? 2 + chance.below(2) : 1
  const clients = chance.shuffle<ClientName>([...mountNames, 'http', 'sdk']).slice(0, count)
  const focus = { box: chance.oneIn(2), path: chance.below(4) }
  const ops = clients.map((client) => {
    const text = `[${index}${client}]`
    return count === 1 ? makeLonely(chance, client, text) : makeOp(chance, client, text, focus)
  })
  return kill ? { ops, kill } : { ops }
}

function makeKill(chance: Chance, killsDatabase: boolean): NonNullable<Turn['kill']> {
  if (killsDatabase && chance.oneIn(2)) return 'database'
  const mount = chance.choose(mountNames)
  return chance.choose(['server', { daemon: mount }, { both: mount }] as const)
}

/** What only one client does at a time: looking, long files, and descriptors that stay open. */
function makeLonely(chance: Chance, client: ClientName, text: string): Op {
  const focus = { box: chance.oneIn(2), path: chance.below(4) }
  const op = makeOp(chance, client, text, focus)
  const isMain = op.branch === 'main'
  if (op.branch !== 'main' && chance.oneIn(4)) return { ...op, type: 'renew' }
  const dice = chance.below(8)
  if (dice < 3) {
    const path = isMain
      ? chance.choose([...short, ...boxed, long])
      : chance.choose([...short, long])
    const folder = isMain ? chance.choose(['repo', 'box', 'box/d']) : 'repo'
    return chance.oneIn(3) ? { ...op, type: 'list', path: folder } : { ...op, type: 'read', path }
  }
  if (dice === 3) {
    const type = chance.choose(['write', 'append', 'append', 'patch'] as const)
    const repeated = text.repeat(Math.ceil(chance.choose(lengths) / text.length))
    return { ...op, type, path: long, text: repeated }
  }
  if (dice === 4 && (client === 'm1' || client === 'm2'))
    return { ...op, type: chance.choose(held), path: chance.choose(boxed) }
  return op
}

function makeOp(
  chance: Chance,
  client: ClientName,
  text: string,
  focus: { readonly box: boolean; readonly path: number },
): Op {
  const branch = branchOf(chance, client)
  const offset = chance.choose(offsets)
  const isApi = client === 'http' || client === 'sdk'
  const at = chance.oneIn(4) ? chance.below(4) : focus.path
  const inBox = branch === 'main' && focus.box
  const paths = inBox ? boxed : short
  const [path, other] = [paths[at % paths.length]!, chance.choose(paths)]
  const op = { client, branch, path, other, offset, text }
  if (client === 'sdk' && chance.oneIn(3)) return makeLayerWork(chance, op)
  if (chance.oneIn(6))
    return chance.oneIn(2) ? { ...op, type: 'read' } : { ...op, type: 'list', path: folderOf(path) }
  if (inBox && chance.oneIn(2)) {
    const type = chance.choose(moves)
    if (type === 'rename' || type === 'link') return { ...op, type }
    if (type === 'rmdir' && isApi) return { ...op, type: 'unlink' }
    const [from, to] = chance.shuffle(['box/d', 'box/e'])
    return { ...op, type, path: from!, other: to! }
  }
  const type = chance.choose(isApi ? edits : [...edits, ...mountEdits])
  // By path, a copy and a file that was moved into place would be other files of one name: see `Tree`.
  return inBox && (type === 'copy' || type === 'save') ? { ...op, type: 'append' } : { ...op, type }
}

function makeLayerWork(chance: Chance, op: Omit<Op, 'type'>): Op {
  return { ...op, branch: chance.choose(layerNames), type: chance.choose(layerWork) }
}

export function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'))
}

function branchOf(chance: Chance, client: ClientName): BranchName {
  if (client === 'l1') return 'one'
  if (client === 'm1' || client === 'm2') return 'main'
  return chance.oneIn(2) ? 'main' : chance.choose(layerNames)
}

/** A listing. Without what is being saved: another name takes it in a moment. */
export function describeNames(names: readonly string[]): string {
  return `names ${names
    .filter((name) => !name.endsWith('~'))
    .sort()
    .join(' ')}`
}
