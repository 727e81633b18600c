/** The tables that a statement may read. `docs/guides/sql.md` explains each column. */

/** Names and types, in the order of a row's values. */
type Columns = Readonly<Record<string, 'text' | 'integer'>>

/** Stored for a tree: one row for each entry, as one caller sees it. */
export const entryColumns: Columns = {
  path: 'text',
  name: 'text',
  ext: 'text',
  kind: 'text',
  size: 'integer',
  mode: 'text',
  uid: 'integer',
  gid: 'integer',
  nlink: 'integer',
  ino: 'integer',
  mtime: 'text',
  ctime: 'text',
  target: 'text',
  version: 'text',
  hash: 'text',
  tags: 'text',
}

/** What `files` has besides; each costs more than a column, so it is worked out only for a statement that reads it. */
const computedColumns: Columns = { actor: 'text', text: 'text' }

export const sideTableNames = ['log', 'layers', 'checkpoints', 'journal'] as const
export type SideTable = (typeof sideTableNames)[number]

/** Filled for each statement that reads them. */
const sideTables: Readonly<Record<SideTable, Columns>> = {
  log: {
    seq: 'integer',
    time: 'text',
    actor: 'text',
    session: 'text',
    tool_call: 'text',
    op: 'text',
    path: 'text',
    to_path: 'text',
  },
  layers: {
    id: 'text',
    name: 'text',
    parent: 'text',
    path: 'text',
    state: 'text',
    tags: 'text',
    message: 'text',
    created_by: 'text',
    created_at: 'text',
  },
  checkpoints: { id: 'text', label: 'text', seq: 'integer', root: 'text', created_at: 'text' },
  journal: {
    journal: 'text',
    seq: 'integer',
    time: 'text',
    type: 'text',
    actor: 'text',
    status: 'text',
    summary: 'text',
    subjects: 'text',
    labels: 'text',
    occurred_at: 'text',
    told_by: 'text',
    tool_call: 'text',
    hash: 'text',
  },
}

const changeColumns: Columns = {
  path: 'text',
  kind: 'text',
  file_kind: 'text',
  from_path: 'text',
}

/** One row for each tag of each file. */
const tagColumns: Columns = { path: 'text', name: 'text', value: 'text' }

/** Who changed a path last. Only the view `files` reads it. */
const actorColumns: Columns = { path: 'text', actor: 'text' }

export type SqlRow = readonly (string | number | null)[]

export function createTable(name: string, columns: Columns): string {
  const list = Object.entries(columns).map(([column, type]) => `${column} ${type}`)
  return `create table ${name} (${list.join(', ')});`
}

export function insertInto(name: string, columns: Columns): string {
  return `insert into ${name} values (${Object.keys(columns)
    .map(() => '?')
    .join(', ')})`
}

/** The tables of a statement that calls `changes` so many times. The tree is attached under the name `tree`. */
export function schemaOf(changes: number): string {
  return [
    ...Object.entries(sideTables).map(([name, columns]) => createTable(name, columns)),
    createTable('actors', actorColumns),
    'create index actors_path on actors(path);',
    ...Array.from({ length: changes }, (_, at) => createTable(changesTable(at), changeColumns)),
    filesView,
    tagsView,
  ].join('\n')
}

export function changesTable(at: number): string {
  return `changes_${at}`
}

/** Filled from a file of the workspace, with columns of its own. */
export function dataTable(at: number): string {
  return `data_${at}`
}

export function columnsOf(table: string): Columns {
  if (table === 'actors') return actorColumns
  return table in sideTables ? sideTables[table as SideTable] : changeColumns
}

/** Filled from the tree. */
export function isTreeView(table: string): boolean {
  return table === 'files' || table === 'tags'
}

/** Whether a statement may name it. The functions of SQLite that read JSON are tables, too. */
export function isReadable(table: string): boolean {
  return (
    isTreeView(table) ||
    table in sideTables ||
    /^(?:changes_\d|data_\d|json_each|json_tree)$/.test(table)
  )
}

/** For messages. */
export const publicTables: readonly string[] = [
  `files(${[...Object.keys(entryColumns), ...Object.keys(computedColumns)].join(', ')})`,
  `tags(${Object.keys(tagColumns).join(', ')})`,
  `changes('FROM', 'TO')(${Object.keys(changeColumns).join(', ')})`,
  ...Object.entries(sideTables).map(
    ([name, columns]) => `${name}(${Object.keys(columns).join(', ')})`,
  ),
  "read_csv('PATH'), read_json('PATH') and read_parquet('PATH')",
]

/*
 * SQLite tells what a view reads by the name of the view, and a statement may call a table of its own the same. So a statement
 * reaches the tables behind these views: no row of them is one that its caller does not see.
 */
const filesView = `create temp view files as select ${Object.keys(entryColumns).join(', ')},
  (select actor from main.actors where main.actors.path = entries.path) as actor,
  content_of(ino, kind) as text
  from tree.entries as entries;`

const tagsView = `create temp view tags as select entries.path as path, tag.key as name, tag.value as value
  from tree.entries as entries, json_each(entries.tags) as tag;`
