import { usageError } from '../errors.ts'

/** `:/path`, or `ctx:/path` for another context than the current one. */
export interface RemoteLocation {
  readonly context: string | undefined
  readonly path: string
}

/** Undefined for what is not remote: a local path, or `-`. */
export function parseLocation(text: string): RemoteLocation | undefined {
  const match = /^([A-Za-z0-9][A-Za-z0-9._-]*)?:(\/[^]*)$/.exec(text)
  return match ? { context: match[1], path: match[2]! } : undefined
}

/** Where only something remote makes sense, a bare `/path` will do. */
export function parseRemote(text: string): RemoteLocation {
  const location = parseLocation(text)
  if (location) return location
  if (text.startsWith('/')) return { context: undefined, path: text }
  const hint = `Write :/${text.replace(/^:/, '')}, or CONTEXT:/path for another context.`
  throw usageError(`find '${text}'`, 'a remote path begins with :/', hint)
}

/** The last name of a path; empty for the root. */
export function baseName(path: string): string {
  return path.replace(/\/+$/, '').replace(/^.*\//s, '')
}

export function joinPath(directory: string, name: string): string {
  return `${directory.replace(/\/+$/, '')}/${name}`
}
