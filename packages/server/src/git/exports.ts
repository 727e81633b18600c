import { hash } from 'node:crypto'
import { readdir, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import type { Scope } from '../access/access.ts'
import type { OpenWorkspace } from '../workspaces/open-workspace.ts'
import { ExportedRepository } from './exported-repository.ts'
import { exportWorkspace } from './export-workspace.ts'
import { ownerView, tokenView, type Viewer } from './viewer.ts'

/** Each knows which content git has, so they are not all kept in memory. */
const repositoriesMax = 50
/** A token can be narrowed without end, and each way to see a workspace is another repository. */
const narrowedMax = 4
const unusedMs = 7 * 24 * 60 * 60 * 1000
const nameCharacters = 32

/** The repositories that workspaces are exported to: one for owners, and one for each token. */
export class Exports {
  readonly #directory: string
  readonly #repositories = new Map<string, ExportedRepository>()
  readonly #running = new Map<string, Promise<void>>()

  constructor(directory: string) {
    this.#directory = directory
  }

  of({ info, stores }: OpenWorkspace, scope: Scope | undefined): ExportedRepository {
    const path = this.#pathOf(info.id, scope)
    const repository = this.#repositories.get(path) ?? new ExportedRepository(path, stores)
    this.#repositories.delete(path)
    this.#repositories.set(path, repository)
    const [oldest] = this.#repositories.keys()
    if (this.#repositories.size > repositoriesMax) this.#repositories.delete(oldest!)
    return repository
  }

  /** As git found it when it asked for the refs. It may have asked another server. */
  async find(workspace: OpenWorkspace, scope: Scope | undefined): Promise<ExportedRepository> {
    const repository = this.of(workspace, scope)
    return (await repository.isThere()) ? repository : this.update(workspace, scope)
  }

  /**
   * Brings a repository up to date. An export of it waits for the one before. `work` sees the repository as it is then, and
   * no other export changes it meanwhile.
   */
  async update(
    workspace: OpenWorkspace,
    scope: Scope | undefined,
    work?: (viewer: Viewer) => Promise<void>,
  ): Promise<ExportedRepository> {
    const repository = this.of(workspace, scope)
    const { path } = repository
    const viewer = scope ? tokenView(workspace, scope, repository) : ownerView()
    const before = this.#running.get(path) ?? Promise.resolve()
    const running = before
      .catch(() => {})
      .then(() => (scope ? makeRoom(path) : undefined))
      .then(() => exportWorkspace(workspace, repository, viewer))
      .then(() => work?.(viewer))
      .finally(() => {
        if (this.#running.get(path) === running) this.#running.delete(path)
      })
    this.#running.set(path, running)
    await running
    return repository
  }

  #pathOf(workspace: string, scope: Scope | undefined): string {
    if (!scope) return join(this.#directory, `${workspace}.git`)
    const { rules, deny, layer } = scope.grant
    const seen = nameOf(JSON.stringify([rules, deny, layer]))
    return join(tokensPath(this.#directory, workspace), nameOf(scope.token), `${seen}.git`)
  }
}

/** A workspace is deleted, and its exports with it. */
export async function removeExports(directory: string, workspace: string): Promise<void> {
  for (const path of [join(directory, `${workspace}.git`), tokensPath(directory, workspace)])
    await rm(path, { recursive: true, force: true })
}

/** Removes the repositories of tokens that are not used any more. */
export async function removeUnusedExports(directory: string, nowMs: number): Promise<void> {
  for (const workspace of await entriesOf(directory))
    for (const token of workspace.endsWith('.tokens') ? await entriesOf(workspace) : [])
      for (const path of await entriesOf(token))
        if ((await usedMs(path)) < nowMs - unusedMs) await rm(path, { recursive: true })
}

function tokensPath(directory: string, workspace: string): string {
  return join(directory, `${workspace}.tokens`)
}

function nameOf(text: string): string {
  return hash('sha256', text).slice(0, nameCharacters)
}

/** Before a token's repository is used: it is the newest, and older ones of the same token may go. */
async function makeRoom(path: string): Promise<void> {
  const now = new Date()
  const isThere = await utimes(path, now, now).then(
    () => true,
    () => false,
  )
  if (isThere) return
  const others = await entriesOf(join(path, '..'))
  const used = await Promise.all(others.map(async (each) => ({ each, ms: await usedMs(each) })))
  const oldestFirst = used.toSorted((a, b) => a.ms - b.ms)
  for (const { each } of oldestFirst.slice(0, Math.max(0, others.length - narrowedMax + 1)))
    await rm(each, { recursive: true, force: true })
}

async function entriesOf(directory: string): Promise<readonly string[]> {
  const names = await readdir(directory).catch(() => [])
  return names.map((name) => join(directory, name))
}

async function usedMs(path: string): Promise<number> {
  return (await stat(path)).mtimeMs
}
