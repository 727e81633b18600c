/** A machine of its own for commands, alive for minutes. What must stay is in the workspace mounted in it. */
export interface Sandbox {
  readonly kind: 'local' | 'e2b'
  /** Where commands start and what relative paths are relative to. With a workspace, where it is mounted. */
  readonly workDir: string
  readonly fs: SandboxFs
  /**
   * Makes the machine and mounts the workspace. The first command or file does it, too: calling it is a choice of the
   * moment. Called twice or at once it does it once; after `dispose` it makes a new one.
   */
  init(): Promise<void>
  /** Resolves for a command that failed too: its code says so. Rejects when there is no machine, or no workspace. */
  exec(command: string, options?: ExecOptions): Promise<ExecResult>
  /** Starts a command and does not wait for it. Rejects when there is no machine, or no workspace. */
  start(command: string, options?: LaunchOptions): Promise<SandboxProcess>
  /** Resolves when what programs were told is written to the workspace is at the server. */
  flush(): Promise<void>
  /** Tells of files that were changed, by whomever; gives an id. Rejects for a path that does not exist. */
  watchFiles(paths: readonly string[], listener: (change: FileChange) => void): Promise<string>
  /** An unknown id is fine. */
  unwatchFiles(id: string): void
  status(): Promise<SandboxStatus>
  /** Stops it where it is, once everything written to the workspace is at the server. */
  pause(): Promise<void>
  resume(): Promise<void>
  /** New sandboxes, each on a layer of its own of what the workspace is now. Commit the one that did best. */
  fork(count: number): Promise<Sandbox[]>
  /** Ends it, once everything written to the workspace is at the server. */
  dispose(options?: DisposeOptions): Promise<void>
}

/** For commands and for writing files. */
export interface CallOptions {
  /** The call of an agent's tool that this is part of: the log names it for what is changed in the workspace. */
  readonly toolCall?: string | undefined
}

export interface ExecOptions extends CallOptions {
  /** Default: two minutes. */
  readonly timeoutMs?: number
}

export interface LaunchOptions extends CallOptions {
  /** Default: `workDir`. */
  readonly cwd?: string
  /** Beside what the sandbox has for every command. */
  readonly env?: Readonly<Record<string, string>>
  /** Opens the standard input. It is closed unless given. */
  readonly stdin?: boolean
}

/** A command that was started. It ends with the machine, at the latest. */
export interface SandboxProcess {
  /** As the sandbox numbers it. */
  readonly pid: number
  /** With `stdin: true`. Closing it ends the input of the command, and not the command. */
  readonly stdin?: WritableStream<Uint8Array>
  readonly stdout: ReadableStream<Uint8Array>
  readonly stderr: ReadableStream<Uint8Array>
  /** Its exit code; 137 after `kill`. */
  wait(): Promise<number>
  /** Ends it and what it started. Twice is fine. */
  kill(): Promise<void>
}

export interface ExecResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  /** Why the command was ended before it ended by itself: it took too long, or printed too much. */
  readonly stopped?: 'timeout' | 'output'
}

export interface FileChange {
  readonly path: string
  readonly mtimeMs: number
}

export interface DisposeOptions {
  /** False ends it at once, as a crash would. */
  readonly drain?: boolean
}

/** A workspace in a sandbox. */
export interface SandboxWorkspace {
  readonly name: string
  /** The directory of the workspace to mount. Default: `/`. */
  readonly path?: string
  /** A layer, by id or name. Default: `main`. */
  readonly layer?: string
  /** Where in the sandbox. Default: `/home/user/workspace`. */
  readonly mountPath?: string
  readonly readOnly?: boolean
  /** Default: CAIRN_SERVER. */
  readonly server?: string
  /** A key or token for it. Default: CAIRN_API_KEY. */
  readonly token?: string
}

export interface SandboxStatus {
  readonly state: 'new' | 'running' | 'paused' | 'ended'
  readonly workspace?: WorkspaceStatus
}

/** How the mount of a workspace is. */
export interface WorkspaceStatus {
  readonly name: string
  readonly layer?: string
  readonly mountPath: string
  readonly connected: boolean
  /** What programs were told is written and is not at the server yet. */
  readonly pendingOps: number
  readonly pendingBytes: number
}

export interface SandboxFs {
  resolve(path: string): string
  isInside(path: string): boolean
  read(path: string): Promise<string>
  readBytes(path: string): Promise<Uint8Array>
  /** Makes missing parents. */
  write(path: string, content: string | Uint8Array, options?: CallOptions): Promise<void>
  /** A path for something temporary; makes nothing. */
  temp(name?: string): string
  stat(path: string): Promise<{ readonly mtimeMs: number }>
  /** Files only. `*` stays inside a directory, `**` does not; results are relative to `workDir` unless `absolute`. */
  glob(pattern: string, options?: SandboxGlobOptions): Promise<string[]>
}

export interface SandboxGlobOptions {
  readonly cwd?: string
  readonly ignore?: readonly string[]
  readonly dot?: boolean
  readonly absolute?: boolean
}
