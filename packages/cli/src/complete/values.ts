import { Cairn } from '@cairn/sdk'
import type { Cli } from '../cli.ts'
import { readConfig } from '../context/config.ts'
import { findCredentials } from '../context/credentials.ts'
import { leanFetch } from '../remote/lean-fetch.ts'
import { parseLocation } from '../remote/location.ts'
import { findOwnWorkspace } from '../remote/own-workspace.ts'

/** What a word stands for. */
export type ValueKind = 'workspace' | 'deleted' | 'layer' | 'context' | 'remote'

/** What the words before it say of where to look. */
export interface CompletedPlace {
  readonly context: string | undefined
  readonly workspace: string | undefined
  readonly layer: string | undefined
}

type Asker = Pick<Cli, 'env' | 'home'>

/** A key press does not wait longer for a server. */
const options = { timeoutMs: 1500, pageSize: 200 } as const
const valuesMax = 200

/** Everything that begins with `word`, up to a few screens. */
export async function findValues(
  cli: Asker,
  kind: ValueKind,
  word: string,
  place: CompletedPlace,
): Promise<string[]> {
  const found: string[] = []
  for await (const value of valuesOf(cli, kind, word, place)) {
    // A name with blanks or signs of the shell would have to be quoted in each shell's way.
    if (value.startsWith(word) && /^[\w@%+=:,./-]+$/.test(value)) found.push(value)
    if (found.length === valuesMax) break
  }
  return found
}

async function* valuesOf(
  cli: Asker,
  kind: ValueKind,
  word: string,
  place: CompletedPlace,
): AsyncGenerator<string> {
  if (kind === 'context') return yield* (await readConfig(cli)).contexts.keys()
  const location = kind === 'remote' ? parseLocation(word) : undefined
  if (kind === 'remote' && !location) return
  const context = location?.context ?? place.context
  const { server, apiKey, workspace } = await findCredentials(cli, { context })
  const cairn = new Cairn({ server, apiKey, fetch: leanFetch })
  if (kind === 'workspace') for await (const { name } of cairn.workspaces.list(options)) yield name
  else if (kind === 'deleted')
    for await (const { name } of cairn.workspaces.listDeleted(options)) yield name
  else {
    const name = place.workspace ?? workspace ?? (await findOwnWorkspace(cairn, options))
    if (name === undefined) return
    const opened = cairn.workspace(name, { layer: place.layer })
    if (!location)
      for await (const { id, name: called = id } of opened.layers.list(options)) yield called
    else {
      const directory = location.path.slice(0, location.path.lastIndexOf('/') + 1)
      const before = word.slice(0, word.length - location.path.length) + directory
      for await (const entry of opened.files.list(directory, options))
        yield `${before}${entry.name}${entry.kind === 'directory' ? '/' : ''}`
    }
  }
}
