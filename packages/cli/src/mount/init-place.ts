import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Cli } from '../cli.ts'

/**
 * Documents name places like /mnt/data, where only root may make a directory. Where sudo asks for no password, as in
 * sandboxes, it makes that one for its user. Everywhere else the mount makes it, or says why it cannot.
 */
export function makeInitPlace(directory: string): void {
  const place = resolve(directory)
  if (existsSync(place) || isWritable(nearestOf(place))) return
  const owner = `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`
  const script = 'mkdir -p "$1" && chown "$2" "$1"'
  spawnSync('sudo', ['-n', '/bin/sh', '-c', script, 'sh', place, owner], { stdio: 'ignore' })
}

function nearestOf(place: string): string {
  return existsSync(place) ? place : nearestOf(dirname(place))
}

function isWritable(place: string): boolean {
  try {
    accessSync(place, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/**
 * In an E2B sandbox files are read and written by root, which sees a mount of another user only with `allow_other`.
 * A user may give that where /etc/fuse.conf says so, as the recipes for such sandboxes make it.
 */
export function isForOthers({ env }: Pick<Cli, 'env'>): boolean {
  if (env['E2B_SANDBOX'] !== 'true') return false
  if (process.getuid?.() === 0) return true
  try {
    return /^\s*user_allow_other\s*$/m.test(readFileSync('/etc/fuse.conf', 'utf8'))
  } catch {
    return false
  }
}
