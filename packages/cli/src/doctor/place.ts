import { existsSync, readFileSync } from 'node:fs'
import { type Check, fail, ok } from './check.ts'

/** What tells where this runs. */
export interface PlaceFacts {
  readonly platform: string
  /** As in /proc/version. */
  readonly kernel: string
  /** `container` as systemd and others set it for process 1 and its children. */
  readonly container: string | undefined
  readonly isE2b: boolean
  readonly files: ReadonlySet<string>
}

const marks = ['/.dockerenv', '/run/.containerenv', '/.e2b'] as const

export function readPlaceFacts(env: Readonly<Record<string, string | undefined>>): PlaceFacts {
  return {
    platform: process.platform,
    kernel: existsSync('/proc/version') ? readFileSync('/proc/version', 'utf8') : '',
    container: env['container'],
    isE2b: env['E2B_SANDBOX'] === 'true',
    files: new Set(marks.filter((path) => existsSync(path))),
  }
}

/** Where this runs, and what cannot work there at all. */
export function checkPlace({ platform, kernel, container, isE2b, files }: PlaceFacts): Check {
  const name = 'place'
  if (platform !== 'linux')
    return fail(
      name,
      `${platform}: mounts, servers and jails need Linux; cairn fs and the SDK work`,
      'use a Linux machine, a container, or WSL 2',
    )
  if (/microsoft/i.test(kernel))
    return /WSL2|microsoft-standard/i.test(kernel)
      ? ok(name, 'WSL 2')
      : fail(name, 'WSL 1, which has no FUSE', 'wsl --set-version DISTRIBUTION 2')
  if (isE2b || files.has('/.e2b')) return ok(name, 'a sandbox of E2B, or one that speaks E2B')
  if (container !== undefined) return ok(name, `a container (${container})`)
  if (files.has('/.dockerenv')) return ok(name, 'a container (docker)')
  if (files.has('/run/.containerenv')) return ok(name, 'a container (podman)')
  return ok(name, 'Linux')
}
