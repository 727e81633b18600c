import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'

/** A directory of this machine for all tests around the call. */
export function useDirectory(): { readonly path: string } {
  let path: string | undefined
  beforeAll(() => {
    path = mkdtempSync(join(tmpdir(), 'cairn-e2e-'))
  })
  afterAll(() => {
    if (path !== undefined) rmSync(path, { recursive: true })
  })
  return {
    get path() {
      return path!
    },
  }
}
