import type { ConflictKind } from '@cairn/core'
import { identify, type Versions } from './identify.ts'
import { type Plain, samePlain } from './plain-tree.ts'
import { nameOf, parentOf, type Place, rootNumber, type Thing, type Things } from './things.ts'

export interface IdentityMerge {
  /** `kind path: base | layer | target`, sorted. */
  readonly conflicts: readonly string[]
  /** What it comes to when there are no conflicts: each path with what is there and its other names. */
  readonly tree: ReadonlyMap<string, PlainEntry>
}

export type PlainEntry = Plain & { readonly names: readonly string[] }

/**
 * A merge by identity without any thought of cost: every thing of all three sides in one table, each field by
 * the three-way rule, then every rule of a tree looked up in the whole table.
 */
export function mergeByIdentity(base: Things, layer: Things, target: Things): IdentityMerge {
  const table = new Table(identify(base, layer, target))
  table.restoreParents()
  table.findCollisions()
  table.findCycles()
  const conflicts = table.conflicts.map(formatConflict).sort()
  return { conflicts, tree: conflicts.length > 0 ? new Map() : table.tree() }
}

interface Conflict {
  readonly kind: ConflictKind
  readonly row: Row
  /** What each side has, and the place it is about, if it is about one. */
  readonly sides: Versions
  readonly place?: Place | undefined
}

interface Row {
  readonly id: number
  readonly versions: Versions
  alive: boolean
  restored: boolean
  fields: Plain
  places: readonly Place[]
}

class Table {
  conflicts: Conflict[] = []
  readonly #rows: readonly Row[]

  constructor(things: ReadonlyMap<number, Versions>) {
    this.#rows = [...things].map(([id, versions]) => this.#mergeRow(id, versions))
  }

  /** What is in a deleted directory brings it back. Whether it should is asked about what came into it. */
  restoreParents(): void {
    for (let changed = true; changed;) {
      changed = false
      for (const { alive, places } of this.#rows)
        for (const place of alive ? places : []) {
          const parent = this.#rowOf(parentOf(place))
          if (parent.alive) continue
          const thing = (parent.versions.layer ?? parent.versions.target)!
          Object.assign(parent, { alive: true, restored: true, fields: thing })
          parent.places = thing.places
          changed = true
        }
    }
    for (const row of this.#rows)
      for (const place of row.alive ? row.places : []) {
        const { base, layer, target } = row.versions
        const wasDeleted = base !== undefined && !(layer && target)
        const isNew = !base?.places.includes(place) && !wasDeleted
        if (!isNew || !this.#rowOf(parentOf(place)).restored) continue
        const kind = !base ? 'edit/delete' : isLinked(row.versions) ? 'hard link' : 'rename/delete'
        this.conflicts.push({ kind, row, sides: row.versions, place })
      }
  }

  findCollisions(): void {
    for (const place of new Set(this.#rows.flatMap(({ alive, places }) => (alive ? places : [])))) {
      const there = this.#rows.filter((row) => row.alive && row.places.includes(place))
      if (there.length < 2) continue
      const layers = there.find(({ versions }) => versions.layer?.places.includes(place))!
      const targets = there.find((row) => row !== layers)!
      const was = there.find(({ versions }) => versions.base?.places.includes(place))
      const directories = there.filter(({ fields }) => fields.kind === 'directory').length
      const kind = directories === 1 ? 'file/directory' : was ? 'edit/edit' : 'add/add'
      this.#withdraw(layers)
      this.#withdraw(targets)
      const sides: Versions = {
        ...(was ? { base: was.versions.base! } : {}),
        layer: layers.versions.layer!,
        target: targets.versions.target!,
      }
      this.conflicts.push({ kind, row: layers, sides, place })
    }
  }

  findCycles(): void {
    const seen = new Set<Row>()
    for (const start of this.#rows) {
      const cycle = this.#cycleFrom(start)
      if (cycle.length === 0 || cycle.some((row) => seen.has(row))) continue
      for (const row of cycle) seen.add(row)
      const movedBy = (side: 'layer' | 'target', other: 'layer' | 'target'): Row =>
        cycle
          .filter(({ versions }) => versions[side] && versions[other])
          .filter(({ versions, places }) => !versions[other]!.places.includes(places[0]!))
          .sort((a, b) => a.id - b.id)[0]!
      const layers = movedBy('layer', 'target')
      const sides: Versions = {
        base: layers.versions.base!,
        layer: layers.versions.layer!,
        target: movedBy('target', 'layer').versions.target!,
      }
      this.conflicts.push({ kind: 'directory cycle', row: layers, sides })
    }
  }

  tree(): ReadonlyMap<string, PlainEntry> {
    const paths = new Map<string, Row>()
    const visit = (path: string, row: Row): void => {
      paths.set(path, row)
      for (const child of this.#rows)
        for (const place of child.alive ? child.places : [])
          if (parentOf(place) === row.id)
            visit(path === '' ? nameOf(place) : `${path}/${nameOf(place)}`, child)
    }
    visit('', this.#rowOf(rootNumber))
    return new Map(
      [...paths].map(([path, row]) => {
        const names = [...paths].filter(([, other]) => other === row).map(([other]) => other)
        return [path, { ...plainFields(row.fields), names: names.sort() }]
      }),
    )
  }

  #mergeRow(id: number, versions: Versions): Row {
    const { base, layer, target } = versions
    const thing = (target ?? layer ?? base)!
    const row: Row = { id, versions, alive: false, restored: false, fields: thing, places: [] }
    if (layer && target) this.#mergeBoth(row, layer, target)
    else if (layer || target) this.#mergeOne(row, (layer ?? target)!)
    return row
  }

  #mergeBoth(row: Row, layer: Thing, target: Thing): void {
    const { base } = row.versions
    const conflict = (kind: ConflictKind, place?: Place): void => {
      const isOld = this.conflicts.some((other) => other.row === row && other.kind === kind)
      if (!isOld) this.conflicts.push({ kind, row, sides: row.versions, place })
    }
    const pick = <T>(b: T, l: T, t: T, hasBase: boolean, kind: ConflictKind): T => {
      if (l === t || (hasBase && l === b)) return t
      if (hasBase && t === b) return l
      conflict(kind)
      return t
    }
    const was = base ?? target
    const hasBase = base !== undefined
    row.alive = true
    row.fields = {
      kind: target.kind,
      content: pick(
        was.content,
        layer.content,
        target.content,
        hasBase,
        hasBase ? 'edit/edit' : 'add/add',
      ),
      mode: pick(was.mode, layer.mode, target.mode, hasBase, 'mode'),
      uid: pick(was.uid, layer.uid, target.uid, hasBase, 'mode'),
      gid: pick(was.gid, layer.gid, target.gid, hasBase, 'mode'),
      xattr: pick(base?.xattr, layer.xattr, target.xattr, true, 'mode'),
    }
    if (isLinked(row.versions)) this.#mergeNames(row, layer, target, conflict)
    else {
      const [b, l, t] = [was.places[0], layer.places[0], target.places[0]]
      row.places = l === t || l === b ? target.places : t === b ? layer.places : []
      if (l !== t && l !== b && t !== b) conflict('rename/rename')
    }
  }

  #mergeNames(
    row: Row,
    layer: Thing,
    target: Thing,
    conflict: (kind: ConflictKind, place?: Place) => void,
  ): void {
    const base = row.versions.base?.places ?? []
    const [l, t] = [layer.places, target.places]
    row.places = [...new Set([...l, ...t])].filter((place) =>
      base.includes(place) ? l.includes(place) && t.includes(place) : true,
    )
    const content = row.versions.base?.content
    const lost = base.filter(
      (place) =>
        (l.length < base.length && target.content !== content && !l.includes(place)) ||
        (t.length < base.length && layer.content !== content && !t.includes(place)),
    )
    const [first] = row.places.length === 0 ? base : lost
    if (first) conflict('hard link', first)
  }

  /** The other side deleted it, or never had it. */
  #mergeOne(row: Row, thing: Thing): void {
    const { base } = row.versions
    const gained = thing.places.filter((place) => !base?.places.includes(place))
    row.alive = !base || gained.length > 0 || !samePlain(thing, base)
    row.fields = thing
    row.places = thing.places
    if (!row.alive || !base) return
    const kind =
      gained.length === 0 ? 'edit/delete' : isLinked(row.versions) ? 'hard link' : 'rename/delete'
    this.conflicts.push({ kind, row, sides: row.versions, place: gained[0] })
  }

  #withdraw(row: Row): void {
    if (row.places.length !== 1) return
    this.conflicts = this.conflicts.filter(
      (conflict) => conflict.row !== row || !conflict.kind.endsWith('/delete'),
    )
    if (row.versions.layer && row.versions.target) return
    for (const child of this.#rows)
      if (child.alive && child.places.some((place) => parentOf(place) === row.id))
        this.#withdraw(child)
  }

  #cycleFrom(start: Row): readonly Row[] {
    const way: Row[] = []
    for (let row = start; row.alive && row.fields.kind === 'directory';) {
      if (row === start && way.length > 0) return way
      if (way.includes(row)) return []
      way.push(row)
      if (row.id === rootNumber || row.places.length === 0) return []
      row = this.#rowOf(parentOf(row.places[0]!))
    }
    return []
  }

  #rowOf(id: number): Row {
    return this.#rows.find((row) => row.id === id)!
  }
}

function isLinked({ base, layer, target }: Versions): boolean {
  return [base, layer, target].some((thing) => thing !== undefined && thing.places.length > 1)
}

function plainFields({ kind, content, mode, uid, gid, xattr }: Plain): Plain {
  return { kind, content, mode, uid, gid, xattr }
}

function formatConflict({ kind, sides, place }: Conflict): string {
  const pathOf = (thing: Thing | undefined): string | undefined =>
    thing?.paths[Math.max(0, place ? thing.places.indexOf(place) : 0)]
  const { base, layer, target } = sides
  const there = [layer, target, base].find((thing) => place && thing?.places.includes(place))
  const path = pathOf(there ?? layer ?? target ?? base)
  const shown = [base, layer, target].map((thing) => pathOf(thing) ?? '-')
  return `${kind} ${path}: ${shown.join(' | ')}`
}
