/** A machine of its own for commands, alive for minutes. What must stay is in the workspace mounted in it. */
export interface Sandbox {
  readonly kind: 'local' | 'e2b'
  /** Where commands start and what relative paths are relative to. */
  readonly workDir: string
  readonly fs: SandboxFs
  /** Resolves for a command that failed too: its code says so. */
  exec(command: string, options?: ExecOptions): Promise<ExecResult>
  dispose(): Promise<void>
}

export interface ExecOptions {
  readonly timeoutMs?: number
}

export interface ExecResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface SandboxFs {
  resolve(path: string): string
  isInside(path: string): boolean
  read(path: string): Promise<string>
  /** Makes missing parents. */
  write(path: string, content: string): Promise<void>
  /** A path for something temporary; makes nothing. */
  temp(name?: string): string
  stat(path: string): Promise<{ readonly mtimeMs: number }>
  /** Files only. */
  glob(pattern: string, options?: GlobOptions): Promise<string[]>
}

export interface GlobOptions {
  readonly cwd?: string
  readonly ignore?: readonly string[]
  readonly dot?: boolean
  readonly absolute?: boolean
}
