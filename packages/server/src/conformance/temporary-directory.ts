import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Gives an empty directory to `work` and takes it away afterwards, whatever happens. */
export async function withTemporaryDirectory<T>(work: (path: string) => Promise<T>): Promise<T> {
  const path = await makeTemporaryDirectory()
  try {
    return await work(path)
  } finally {
    await removeDirectory(path)
  }
}

export function makeTemporaryDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'cairn-test-'))
}

export async function removeDirectory(path: string): Promise<void> {
  // A server that was killed may still be writing its last file.
  await rm(path, { recursive: true, force: true, maxRetries: 5 })
}
