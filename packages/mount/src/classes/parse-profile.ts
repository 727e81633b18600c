import { CairnError } from '@cairn/protocol'
import type { Profile } from './profile.ts'

const lists = { local: 'local', scratch: 'scratch', remote: 'durable', durable: 'durable' } as const
/** Sections of drive9 that name no class. */
const otherSections: readonly string[] = ['pack', 'append-log', 'extent']

/**
 * Reads a profile file: one pattern a line, below `[local]`, `[scratch]` or `[durable]`. The files of drive9 are read as
 * they are: `[remote]` is `[durable]`, lines before the first section are local, and sections that say how it packs are
 * ignored, because a pack here has everything.
 */
export function parseProfile(name: string, text: string): Profile {
  const profile = { name, local: [] as string[], scratch: [] as string[], durable: [] as string[] }
  let list: string[] | undefined = profile.local
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim()
    const section = /^\[(.*)\]$/.exec(line)?.[1]
    if (section !== undefined) list = listOf(profile, section, `${name}, line ${index + 1}`)
    else if (line !== '' && !line.startsWith('#')) list?.push(line)
  }
  return profile
}

function listOf(
  profile: Pick<Record<keyof Profile, string[]>, 'local' | 'scratch' | 'durable'>,
  section: string,
  where: string,
): string[] | undefined {
  if (otherSections.includes(section)) return undefined
  if (section in lists) return profile[lists[section as keyof typeof lists]]
  throw new CairnError('malformed', {
    what: `read profile ${where}`,
    reason: `there is no section [${section}]`,
    hint: 'The sections are [local], [scratch] and [durable]. See: cairn profile show portable.',
  })
}
