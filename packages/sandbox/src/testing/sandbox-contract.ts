import { describe } from 'vitest'
import type { Workspace } from '@cairn/sdk'
import type { Sandbox } from '../sandbox.ts'
import { runBareTests } from './bare-tests.ts'
import { runWorkspaceTests } from './workspace-tests.ts'

/** What a provider's sandboxes are tried with. */
export interface SandboxSetup {
  /** A sandbox that is not made yet, with a workspace of the server or without one. */
  readonly make: (workspace?: { readonly name: string; readonly layer?: string }) => Sandbox
  /** A new, empty workspace of the server. */
  readonly makeWorkspace: () => Promise<Workspace>
  /** What must not be seen in a sandbox object: keys, tokens, environments. */
  readonly secrets: readonly string[]
  /** Why callers do not hear that a command was stopped; undefined where they do. */
  readonly hidesStops?: string
  readonly close: () => Promise<void>
}

/** The contract of Sandbox. Every provider passes it. */
export function runSandboxTests(open: () => Promise<SandboxSetup>): void {
  describe('a sandbox', () => runBareTests(open))
  describe('a sandbox with a workspace', () => runWorkspaceTests(open))
}
