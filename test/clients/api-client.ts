import { Cairn, isCairnError, type Workspace } from '@cairn/sdk'
import type { Site } from '../mount/fixture.ts'
import { type BranchName, describeNames, type Op } from './history.ts'

/** Takes operations through the API: by the SDK, which asks again until it knows, or by one request without a key. */
export class ApiClient {
  readonly #site: Site
  readonly #layerOf: (branch: BranchName) => string
  readonly #fetch: typeof fetch

  constructor(site: Site, client: 'http' | 'sdk', layerOf: (branch: BranchName) => string) {
    this.#site = site
    this.#layerOf = layerOf
    this.#fetch = client === 'sdk' ? fetch : fetchOnce
  }

  async take(op: Op): Promise<string> {
    try {
      return (await this.#do(op)) ?? 'ok'
    } catch (error) {
      if (isCairnError(error)) return error.code === 'file_system' ? error.errno! : error.code
      throw error
    }
  }

  get workspace(): Workspace {
    const { url: server, key: apiKey } = this.#site
    return new Cairn({ server, apiKey, fetch: this.#fetch }).workspace('demo')
  }

  async #do(op: Op): Promise<string | void> {
    const { workspace } = this
    const layer = this.#layerOf(op.branch)
    const files = op.branch === 'main' ? workspace.files : workspace.layer(layer).files
    const [path, other, { text, offset }] = [`/${op.path}`, `/${op.other}`, op]
    const bytes = Buffer.from(text)
    const parents = false
    switch (op.type) {
      case 'write':
        return void (await files.write(path, text, { parents }))
      case 'append':
        return void (await files.append(path, text, { parents }))
      case 'exclusive':
        return void (await files.write(path, text, { ifAbsent: true, parents }))
      case 'patch':
        return void (await files.patch(path, offset, bytes))
      case 'unlink':
        return void (await files.remove(path))
      case 'copy':
        return void (await files.copy(path, other, { parents }))
      case 'rename':
      case 'renameDirectory':
        return void (await files.move(path, other, { parents }))
      case 'link':
        return void (await files.link(path, other, { parents }))
      case 'mkdir':
        return void (await files.mkdir(path, { parents }))
      case 'read':
        return `text ${Buffer.from(await files.read(path)).toString('latin1')}`
      case 'list':
        return list(files, path)
      case 'commit':
        return void (await workspace.layers.commit(layer))
      case 'rebase':
        return void (await workspace.layers.rebase(layer))
      case 'rollback':
        return void (await workspace.layers.rollback(layer))
      case 'save':
      case 'truncate':
      case 'rmdir':
      case 'hold':
      case 'letGo':
      case 'appendHeld':
      case 'readHeld':
      case 'renew':
        throw new Error(`no request does ${op.type}`)
    }
  }
}

async function list(files: Workspace['files'], path: string): Promise<string> {
  const names: string[] = []
  for await (const { name } of files.list(path)) names.push(name)
  return describeNames(names)
}

/** One request without a key, and not again: when its answer is lost, it was done or it was not. */
const fetchOnce: typeof fetch = async (input, init) => {
  const headers = new Headers(init?.headers)
  headers.delete('idempotency-key')
  const response = await fetch(input, { ...init, headers }).catch(() => undefined)
  if (response && response.status < 500) return response
  const error = { code: 'no_answer', reason: 'the answer was lost' }
  return Response.json({ error }, { status: 400 })
}
