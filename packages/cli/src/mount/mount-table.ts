import { readFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'

export interface TableEntry {
  readonly mountPoint: string
  readonly source: string
}

const patienceMs = 2000

/** The topmost mount of ours at a place, from the kernel's table: nothing is touched. */
export function findOurMount(mountPoint: string): TableEntry | undefined {
  const top = readMountTable().findLast((entry) => entry.mountPoint === mountPoint)
  return top?.source.startsWith('cairn:') ? top : undefined
}

function readMountTable(): TableEntry[] {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
  return lines.flatMap((line) => {
    const fields = line.split(' ')
    const source = fields[fields.indexOf('-') + 2]
    return fields.length < 10 || source === undefined
      ? []
      : [{ mountPoint: unescape(fields[4]!), source: unescape(source) }]
  })
}

/** Blanks, tabs, line ends and backslashes are octal there. */
function unescape(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(parseInt(octal, 8)),
  )
}

/** "Transport endpoint is not connected": nobody has the other end any more. One that does not answer is alive. */
export async function isDead(mountPoint: string): Promise<boolean> {
  const late = new Promise<boolean>((resolve) => setTimeout(resolve, patienceMs, false).unref())
  const asked = stat(mountPoint).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'ENOTCONN',
  )
  return Promise.race([asked, late])
}
