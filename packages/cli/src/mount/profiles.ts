import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { builtInProfiles, parseProfile, type Profile } from '@cairn/mount/beside'
import type { Cli } from '../cli.ts'
import { usageError } from '../errors.ts'

interface ProfileValues {
  readonly profile: string | undefined
  readonly 'local-only': readonly string[]
  readonly 'remote-only': readonly string[]
  readonly scratch: readonly string[]
}

type Home = Pick<Cli, 'home'>

/** The profile of a mount; undefined where nothing asks for one. */
export function profileOf(cli: Home, options: ProfileValues): Profile | undefined {
  const base = options.profile === undefined ? undefined : findProfile(cli, options.profile)
  const own = [options['local-only'], options['remote-only'], options.scratch].flat()
  if (!base && own.length === 0) return undefined
  return {
    name: base?.name ?? 'options',
    local: [...(base?.local ?? []), ...options['local-only']],
    scratch: [...(base?.scratch ?? []), ...options.scratch],
    durable: [...(base?.durable ?? []), ...options['remote-only']],
  }
}

/** By name, or as a file. Yours come before the built-in ones, and those of drive9 are found, too. */
export function findProfile(cli: Home, name: string): Profile {
  const files = name.includes('/') ? [name] : profileDirectories(cli).map((at) => join(at, name))
  for (const path of files) {
    const text = readIfThere(path)
    if (text !== undefined) return parseProfile(name, text)
  }
  const found = builtInProfiles.find((each) => each.name === name)
  if (found) return found
  throw usageError(
    `use the profile ${name}`,
    'no profile has this name',
    'See those that exist with: cairn profile ls.',
  )
}

export function listProfiles(cli: Home): readonly Profile[] {
  const own = profileDirectories(cli).flatMap(namesIn)
  const names = new Set([...own, ...builtInProfiles.map(({ name }) => name)])
  return [...names].sort().map((name) => findProfile(cli, name))
}

function profileDirectories({ home }: Home): string[] {
  return [join(home, '.cairn', 'profiles'), join(home, '.drive9', 'profiles')]
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory).filter((name) => /^[\w.-]+$/.test(name))
  } catch {
    // There are none.
    return []
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? ''))
      return undefined
    throw error
  }
}
