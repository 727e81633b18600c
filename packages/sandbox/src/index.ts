export type {
  CallOptions,
  DisposeOptions,
  ExecOptions,
  ExecResult,
  FileChange,
  SandboxGlobOptions,
  Sandbox,
  SandboxFs,
  SandboxProcess,
  SandboxStatus,
  SandboxWorkspace,
  LaunchOptions,
  WorkspaceStatus,
} from './sandbox.ts'
export type {
  EgressRules,
  Jail,
  JailBase,
  JailBind,
  JailCommand,
  JailExit,
  JailLimits,
  JailOptions,
  JailOutside,
  JailProcess,
  JailUsage,
} from './jail/jail.ts'
export { findRunningServer, type RunningE2BServer } from './e2b-server/claim.ts'
export { type E2BServer, type E2BServerOptions, serveE2B } from './e2b-server/server.ts'
export { createJail } from './jail/create-jail.ts'
export { JailStartError } from './jail/jail.ts'
export { LocalSandbox, type LocalSandboxOptions } from './local/local-sandbox.ts'
export { connectE2B, type E2BConnection } from './e2b/connect.ts'
export { E2BSandbox, type E2BSandboxOptions } from './e2b/e2b-sandbox.ts'
export { followSandboxLogs, readSandboxLogs } from './e2b/sandbox-logs.ts'
export { isRunning, markProcess } from '@cairn/mount'
export { type Credential, findCredential } from './workspace/credential.ts'
export { isGone } from './e2b/results.ts'
export { E2BFS, type E2BFSHost } from './e2b/e2b-files.ts'
export { installCairn } from './e2b/install-cairn.ts'
export {
  E2BTemplateBuilder,
  type E2BTemplateConfig,
  type E2BTemplateOptions,
} from './e2b/template-builder.ts'
export {
  type KindRegister,
  registerSandboxes,
  type SandboxConfig,
  SandboxFactory,
} from './factory.ts'
export { dockerfile, e2bProgram } from './template/recipe.ts'
export { findSingleFile } from './template/single-file.ts'
