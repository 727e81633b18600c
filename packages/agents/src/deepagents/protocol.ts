/** The results of backends of deepagents 1.14, which need not be installed. Errors are values. */

interface Failed {
  error?: string
}

export interface BackendFile {
  /** That of a directory ends with a slash. */
  path: string
  is_dir: boolean
  size: number
  modified_at: string
}

export interface LsResult extends Failed {
  files?: BackendFile[]
}

export interface GlobResult extends LsResult {
  truncated?: boolean
}

export interface GrepResult extends Failed {
  matches?: { path: string; line: number; text: string }[]
  truncated?: boolean
}

/** Text is given in parts by lines, anything else as a whole. */
export interface ReadResult extends Failed {
  content?: string | Uint8Array
  mimeType?: string
  totalLines?: number
  startLine?: number
  endLine?: number
  nextOffset?: number
}

export interface ReadRawResult extends Failed {
  data?: {
    content: string | Uint8Array
    mimeType: string
    created_at: string
    modified_at: string
  }
}

/** Null: nothing goes into the state of the graph. */
export interface ChangeResult extends Failed {
  path?: string
  filesUpdate?: null
}

export interface EditResult extends ChangeResult {
  occurrences?: number
}

export type FileProblem = 'file_not_found' | 'permission_denied' | 'is_directory' | 'invalid_path'

export interface UploadResult {
  path: string
  error: FileProblem | null
}

export interface DownloadResult extends UploadResult {
  content: Uint8Array | null
}

export interface ExecuteResult {
  /** Both streams. */
  output: string
  exitCode: number
  truncated: boolean
}
