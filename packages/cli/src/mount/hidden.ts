import { readdirSync } from 'node:fs'
import type { Cli } from '../cli.ts'
import { formatName } from '../output/format.ts'

const namesMax = 5

/** What is in the local directory stays there, and is out of sight until the mount ends. */
export async function tellHidden({ err }: Pick<Cli, 'err'>, mountPoint: string): Promise<void> {
  const names = readNames(mountPoint)
  if (names.length === 0) return
  const first = names.slice(0, namesMax).map((name) => formatName(name, err.isTerminal))
  const more = names.length - first.length
  const rest = more > 0 ? ` and ${more} more` : ''
  await err.line(
    `note: until you unmount, this hides what is in ${mountPoint}: ${first.join(', ')}${rest}`,
  )
}

function readNames(directory: string): string[] {
  try {
    return readdirSync(directory).toSorted()
  } catch (error) {
    // A directory that you cannot list can still be mounted on.
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return []
    throw error
  }
}
