import type { OpenWorkspace } from './open-workspace.ts'

/** What finds the branches of a workspace by their names, layers and checkpoints, and reads them. */
export type Branches = Pick<
  OpenWorkspace,
  'branch' | 'info' | 'layers' | 'openBranch' | 'read' | 'stores'
>
