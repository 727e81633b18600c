import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

let directory: string | undefined
let count = 0

afterAll(() => {
  if (directory !== undefined) rmSync(directory, { recursive: true })
  directory = undefined
})

/** A key for `--api-key-file`, because commands take none as an argument. */
export function keyFile(key: string): string {
  directory ??= mkdtempSync(join(tmpdir(), 'cairn-keys-'))
  const path = join(directory, String(++count))
  writeFileSync(path, `${key}\n`, { mode: 0o600 })
  return path
}
