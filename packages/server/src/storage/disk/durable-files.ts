import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'

/** A name that was made or moved in a directory is on disk only once the directory is. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

/** Makes it and what is missing above it, each of them durably. */
export async function makeDirectory(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true })
  if (first === undefined) return
  for (let made = path; ; made = dirname(made)) {
    await syncDirectory(dirname(made))
    if (made === first) return
  }
}
