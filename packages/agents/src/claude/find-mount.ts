import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

export interface MountPlace {
  readonly workspace: string
  /** `main`, or a layer by its id. */
  readonly branch: string
  readonly directory: string
}

/** The workspace that a directory is in, as its mount tells. Undefined: it is in none. */
export async function findMount(directory: string): Promise<MountPlace | undefined> {
  for (let place = directory; ; place = dirname(place)) {
    const text = await readFile(join(place, '.cairn/status'), 'utf8').catch(() => undefined)
    const workspace = text && /^workspace: (.+)$/m.exec(text)?.[1]
    const branch = text && /^branch: (.+)$/m.exec(text)?.[1]
    if (workspace && branch) return { workspace, branch, directory: place }
    if (place === dirname(place)) return undefined
  }
}
