import { readFileSync } from 'node:fs'

export interface TableEntry {
  readonly mountPoint: string
  readonly source: string
  /** The kernel's number of its FUSE connection. */
  readonly connection: number
}

/** The topmost mount of ours at a place, from the kernel's table: nothing in the mount is touched. */
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
      : [
          {
            mountPoint: unescape(fields[4]!),
            source: unescape(source),
            // MAJOR:MINOR of its device. FUSE has no major number, and the minor one names the connection.
            connection: Number(fields[2]!.split(':')[1]),
          },
        ]
  })
}

/** Blanks, tabs, line ends and backslashes are octal there. */
function unescape(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(parseInt(octal, 8)),
  )
}
