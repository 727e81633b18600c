import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// Not in index.ts: benchmarks import that one, and run without vitest.

let directory: string | undefined
let count = 0

/** A key for `--api-key-file`, because commands take none as an argument. */
export function keyFile(key: string): string {
  directory ??= makeDirectory()
  const path = join(directory, String(++count))
  writeFileSync(path, `${key}\n`, { mode: 0o600 })
  return path
}

/** Benchmarks import this module, too, so the process removes it and no hook of the test runner. */
function makeDirectory(): string {
  const made = mkdtempSync(join(tmpdir(), 'cairn-keys-'))
  process.once('exit', () => rmSync(made, { recursive: true }))
  return made
}
