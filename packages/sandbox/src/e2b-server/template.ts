import type { MachineSettings } from './envd/machine.ts'

export interface Build {
  readonly id: string
  readonly createdAt: string
  readonly cpuCount: number
  readonly memoryMB: number
  status: 'waiting' | 'building' | 'ready' | 'error'
  reason?: { readonly message: string; readonly step?: string }
  /** A copy of a disk. Undefined: `image`, or the host's own system. */
  disk?: string
  /** What a built-in template starts from: it is made when it is first wanted. */
  readonly image?: string
  settings: MachineSettings
  startCommand?: string
  readyCommand?: string
}

/** Something sandboxes are started from. A snapshot is one, too. */
export interface Template {
  readonly id: string
  readonly createdAt: string
  /** The sandbox it is a snapshot of. */
  readonly snapshotOf?: string
  /** Without tags; none for a snapshot without a name. */
  names: string[]
  builds: Record<string, Build>
  /** Which build a tag means. */
  tags: Record<string, string>
}

export const defaultTag = 'default'
export const defaultSettings: MachineSettings = { env: {}, user: 'user', workDir: undefined }
export const defaultSize = { cpuCount: 2, memoryMB: 1024 } as const

export interface Reference {
  readonly name: string
  readonly tag: string | undefined
}

/** In lower case. Undefined when it is none: ids of builds can stand in the same place. */
export function parseTag(text: string): string | undefined {
  const tag = text.trim().toLowerCase()
  const isId = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(tag)
  return /^[a-z0-9_.-]{1,128}$/.test(tag) && !isId ? tag : undefined
}

/** `[namespace/]alias[:tag]`, in lower case. Undefined when it is none. */
export function parseReference(text: string): Reference | undefined {
  const pattern = /^(?<name>(?:[a-z0-9_-]+\/)?[a-z0-9_-]+)(?::(?<tag>[a-z0-9_.-]+))?$/
  const groups = pattern.exec(text.trim().toLowerCase())?.groups
  if (groups?.['name'] === undefined) return undefined
  return { name: groups['name'], tag: groups['tag'] }
}
