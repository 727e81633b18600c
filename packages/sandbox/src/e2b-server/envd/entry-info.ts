import type { AgentEntry } from '../agent/entry.ts'

const typeOf = {
  file: 'FILE_TYPE_FILE',
  directory: 'FILE_TYPE_DIRECTORY',
  other: 'FILE_TYPE_UNSPECIFIED',
} as const

/** An entry in the JSON of `filesystem.EntryInfo`. */
export function entryInfo(entry: AgentEntry): object {
  const { name, path, type, size, mode, permissions, owner, group, mtimeNs, target, metadata } =
    entry
  return {
    name,
    path,
    type: typeOf[type],
    size: String(size),
    mode,
    permissions,
    owner,
    group,
    modifiedTime: rfc3339(BigInt(mtimeNs)),
    ...(target === undefined ? {} : { symlinkTarget: target }),
    ...(metadata === undefined || Object.keys(metadata).length === 0 ? {} : { metadata }),
  }
}

function rfc3339(nanoseconds: bigint): string {
  const seconds = nanoseconds / 1_000_000_000n
  const rest = String(nanoseconds % 1_000_000_000n).padStart(9, '0')
  return new Date(Number(seconds) * 1000).toISOString().replace('.000Z', `.${rest}Z`)
}
