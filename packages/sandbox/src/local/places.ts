import { homedir } from 'node:os'
import { join } from 'node:path'

/** Where the disks of jails are kept: on a disk, for what is in memory counts as a program's. */
export function jailsDirectory(
  env: Readonly<Record<string, string | undefined>> = process.env,
): string {
  if (process.getuid?.() === 0) return '/var/lib/cairn/jails'
  return join(env['XDG_DATA_HOME'] || join(homedir(), '.local', 'share'), 'cairn', 'jails')
}
