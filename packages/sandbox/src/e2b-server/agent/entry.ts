/** What the agent tells of a file. */
export interface AgentEntry {
  readonly name: string
  readonly path: string
  /** The type of a link's target; `other` for a dangling link. */
  readonly type: 'file' | 'directory' | 'other'
  readonly size: number
  readonly mode: number
  readonly permissions: string
  readonly owner: string
  readonly group: string
  readonly mtimeNs: string
  readonly target?: string
  readonly metadata?: Readonly<Record<string, string>>
}

/** A user of the jail. */
export interface AgentUser {
  readonly name: string
  readonly uid: number
  readonly gid: number
  readonly home: string
}

/** An errno of the jail's file system. */
export class AgentError extends Error {
  readonly code: string

  constructor(code: string, message: string, path: string) {
    super(path === '' ? message : `${path}: ${message}`)
    this.code = code
  }
}
