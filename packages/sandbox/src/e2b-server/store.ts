import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Small records, each a file of JSON. */
export class RecordStore<Row> {
  readonly #directory: string
  /** Writes of one record keep their order. */
  readonly #writes = new Map<string, Promise<void>>()

  private constructor(directory: string) {
    this.#directory = directory
  }

  static async open<Row>(directory: string): Promise<RecordStore<Row>> {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    return new RecordStore(directory)
  }

  async all(): Promise<Row[]> {
    const names = (await readdir(this.#directory)).filter((name) => name.endsWith('.json'))
    const texts = names.map((name) => readFile(join(this.#directory, name), 'utf8'))
    return (await Promise.all(texts)).map((text) => JSON.parse(text) as Row)
  }

  put(id: string, row: Row): Promise<void> {
    const text = JSON.stringify(row)
    return this.#queue(id, () => replaceFile(this.#path(id), text))
  }

  delete(id: string): Promise<void> {
    return this.#queue(id, () => rm(this.#path(id), { force: true }))
  }

  #queue(id: string, write: () => Promise<void>): Promise<void> {
    const before = this.#writes.get(id) ?? Promise.resolve()
    const now = before.catch(() => {}).then(write)
    this.#writes.set(id, now)
    const forget = (): void => {
      if (this.#writes.get(id) === now) this.#writes.delete(id)
    }
    now.then(forget, forget)
    return now
  }

  #path(id: string): string {
    return join(this.#directory, `${id}.json`)
  }
}

async function replaceFile(path: string, text: string): Promise<void> {
  const draft = `${path}.new`
  // Tokens are in it.
  const file = await open(draft, 'w', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, path)
  const directory = await open(join(path, '..'), 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}
