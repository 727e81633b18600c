import type { StoreCase } from '@cairn/core/conformance'
import { isCairnError } from '@cairn/protocol'
import { objectStoreCases } from '../conformance/object-store.ts'
import { blobCases, databaseSuites } from '../conformance/suites.ts'
import type { Database } from '../storage/database.ts'
import { describePlace as describeMysql, parseMysqlUrl } from '../storage/mysql/config.ts'
import type { ObjectStore } from '../storage/object-store.ts'
import { describePlace as describeS3, parseS3Url } from '../storage/s3/config.ts'
import { DirectoryPlace } from './directory-place.ts'
import { EndableObjects } from './endable-objects.ts'
import { measureDatabase, measureObjects } from './measure.ts'
import type { VerifyPlace } from './place.ts'
import type { StoreCheck, StoreRole, StoreSpeed, SuiteResult, VerifyReport } from './report.ts'
import { fail, type Finding, ok, warn } from './report.ts'
import { runSuite, type Suite } from './run-suite.ts'
import { judgeScratch, makeScratchName } from './scratch-name.ts'

export type { VerifyReport } from './report.ts'

export interface VerifyOptions {
  /** The data directory, for what is kept in neither of the other two. */
  readonly data: string
  readonly meta?: string
  readonly objects?: string
  /** Ends the verification early; everything is cleaned up before it rejects with the reason. */
  readonly signal: AbortSignal
  readonly onProgress?: (progress: VerifyProgress) => void
  /** Hears how to remove what a process that is killed from now on leaves behind. */
  readonly onScratch?: (removal: string) => void
  readonly nowMs?: () => number
}

export interface VerifyProgress {
  readonly done: number
  readonly total: number
  readonly what: string
}

/**
 * Runs the conformance suites on the operator's own stores, in a scratch schema and a scratch folder that are deleted
 * afterwards, whatever happens. What is wrong is in the report. Rejects only where an address cannot be read, and with
 * the signal's reason.
 */
export async function verifyStores(options: VerifyOptions): Promise<VerifyReport> {
  const verification = new Verification(options)
  try {
    await verification.run()
  } finally {
    await verification.cleanUp()
  }
  options.signal.throwIfAborted()
  return verification.report()
}

/** A scratch store, and how to get rid of it. */
interface Scratch {
  readonly place: VerifyPlace<unknown>
  readonly role: StoreRole
  readonly name: string
}

class Verification {
  readonly #options: VerifyOptions
  readonly #databaseAt: Where<Database>
  readonly #objectsAt: Where<ObjectStore>
  readonly #places: VerifyPlace<unknown>[] = []
  readonly #scratches: Scratch[] = []
  readonly #checks: StoreCheck[] = []
  readonly #suites: SuiteResult[] = []
  readonly #speeds: StoreSpeed[] = []
  #endable: EndableObjects | undefined
  #done = 0
  #total = 0

  constructor(options: VerifyOptions) {
    this.#options = options
    this.#databaseAt = whereDatabaseIs(options)
    this.#objectsAt = whereObjectsAre(options)
  }

  async run(): Promise<void> {
    const database = await this.#prepare('database', this.#databaseAt)
    const made = await this.#prepare('objects', this.#objectsAt)
    const objects = made && (this.#endable = new EndableObjects(made))
    const suites: (() => Promise<void>)[] = []
    const add = <Store>(suite: Suite<Store>, store: Store): void => {
      this.#total += suite.cases.length
      suites.push(() => this.#runSuite(suite, store))
    }
    if (database)
      for (const [name, cases] of Object.entries(databaseSuites))
        add({ store: 'database', name, cases }, database)
    if (objects) add(objectSuite('objects', objectStoreCases), objects)
    if (database && objects) add(objectSuite('blobs', blobCases), { database, objects })
    for (const runNext of suites) await runNext()
    const { signal } = this.#options
    if (database)
      await this.#attempt('database', 'speed', 'Look into its log', async () => {
        this.#speeds.push(...(await measureDatabase(database, signal)))
      })
    if (objects)
      await this.#attempt('objects', 'speed', 'Look into its log', async () => {
        this.#speeds.push(...(await measureObjects(objects, signal)))
      })
  }

  async cleanUp(): Promise<void> {
    await this.#endable?.close()
    for (const { place, role, name } of this.#scratches)
      await place
        .remove(name)
        .catch((error: unknown) =>
          this.#note(
            role,
            fail('clean-up', `${name} is left: ${wordsOf(error)}`, place.removal(name)),
          ),
        )
    for (const place of this.#places) await place.close().catch(() => {})
  }

  report(): VerifyReport {
    const [checks, suites, speeds] = [this.#checks, this.#suites, this.#speeds]
    const isFit =
      checks.every(({ state }) => state !== 'fail') &&
      suites.every(({ failures }) => failures.length === 0)
    return {
      database: this.#databaseAt.name,
      objects: this.#objectsAt.name,
      checks,
      suites,
      speeds,
      isFit,
    }
  }

  /** Opens a place, asks for its settings, clears up after earlier runs, and makes a scratch store. */
  async #prepare<Store>(role: StoreRole, where: Where<Store>): Promise<Store | undefined> {
    const { signal, onScratch, nowMs = Date.now } = this.#options
    signal.throwIfAborted()
    const place = await this.#attempt(role, 'connection', where.hint, where.open)
    if (!place) return undefined
    this.#places.push(place)
    await this.#attempt(role, 'settings', where.hint, async () => {
      for (const finding of await place.check()) this.#note(role, finding)
    })
    await this.#attempt(role, 'leftovers', place.makeHint, () => this.#sweep(role, place, nowMs()))
    const name = makeScratchName(nowMs())
    signal.throwIfAborted()
    this.#scratches.push({ place, role, name })
    onScratch?.(place.removal(name))
    return this.#attempt(role, 'scratch store', place.makeHint, () => place.make(name))
  }

  /** A younger one may belong to a run that is under way. */
  async #sweep(role: StoreRole, place: VerifyPlace<unknown>, nowMs: number): Promise<void> {
    const own = new Set(this.#scratches.map(({ name }) => name))
    for (const name of await place.list()) {
      const age = own.has(name) ? undefined : judgeScratch(name, nowMs)
      if (age === 'old') {
        await place.remove(name)
        this.#note(role, ok('leftovers', `removed ${name}, which an interrupted run had left`))
      } else if (age === 'young') {
        const says = `${name} is less than a day old: another run is under way, or was interrupted`
        this.#note(role, warn('leftovers', says, `If none runs: ${place.removal(name)}`))
      }
    }
  }

  async #runSuite<Store>(suite: Suite<Store>, store: Store): Promise<void> {
    const { signal, onProgress } = this.#options
    const onCase = (suiteName: string, name: string): void =>
      onProgress?.({ done: this.#done++, total: this.#total, what: `${suiteName}: ${name}` })
    this.#suites.push(await runSuite(suite, store, { signal, onCase }))
  }

  /** Undefined, and a failed check, where it rejects. */
  async #attempt<T>(
    role: StoreRole,
    name: string,
    fix: string,
    work: () => Promise<T>,
  ): Promise<T | undefined> {
    try {
      return await work()
    } catch (error) {
      this.#options.signal.throwIfAborted()
      this.#note(role, fail(name, wordsOf(error), fix))
      return undefined
    }
  }

  #note(store: StoreRole, finding: Finding): void {
    this.#checks.push({ store, ...finding })
  }
}

interface Where<Store> {
  readonly name: string
  /** What to look at where it cannot be opened. */
  readonly hint: string
  readonly open: () => Promise<VerifyPlace<Store>>
}

// The drivers are imported where they are needed, as a server does.

function whereDatabaseIs({ data, meta }: VerifyOptions): Where<Database> {
  const hint = `Make the directory, or name another: mkdir -p ${data}`
  if (meta === undefined)
    return { name: `SQLite in ${data}`, hint, open: () => DirectoryPlace.database(data) }
  const config = parseMysqlUrl(meta)
  return {
    name: describeMysql(config),
    hint: 'Check host, port, user, password and database of --meta',
    open: async () => (await import('./mysql-place.ts')).MysqlPlace.open(config),
  }
}

function whereObjectsAre({ data, objects }: VerifyOptions): Where<ObjectStore> {
  const hint = `Make the directory, or name another: mkdir -p ${data}`
  if (objects === undefined)
    return { name: `files in ${data}`, hint, open: () => DirectoryPlace.objects(data) }
  const config = parseS3Url(objects)
  return {
    name: describeS3(config),
    hint: 'Check bucket, endpoint, region and keys of --objects',
    open: async () => (await import('./s3-place.ts')).S3Place.open(config),
  }
}

function objectSuite<Store>(name: string, cases: readonly StoreCase<Store>[]): Suite<Store> {
  return { store: 'objects', name, cases }
}

/** Without the general hint: the check has one of its own. */
function wordsOf(error: unknown): string {
  if (!isCairnError(error)) return String(error)
  return error.problem
}
