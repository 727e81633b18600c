import { inSteps, mapPaced, type Steps, takeSteps } from '@cairn/core'
import { type ChangeReceipt, isFsError } from '@cairn/protocol'
import { fileRoutes } from '@cairn/protocol/routes'
import type { FastifyInstance } from 'fastify'
import type { TreeEdit } from '../../files/tree-edit.ts'
import type { WorkspaceKeeper } from '../../workspaces/workspace-keeper.ts'
import { adderOf } from '../add-routes.ts'
import { openTarget } from '../context.ts'
import { OperationFailed } from '../errors.ts'
import { type PathOperation, readOperation } from '../operations.ts'
import { spelledPath } from '../raw-path.ts'

export function batchRoutes(app: FastifyInstance, workspaces: WorkspaceKeeper): void {
  const config = { access: ['write', 'delete'], changesDirectories: true } as const
  adderOf(app, fileRoutes)(
    'POST /v1/workspaces/:workspace/batch',
    config,
    async (request): Promise<ChangeReceipt> => {
      const { workspace, branch, asker } = await openTarget(workspaces, request)
      const { pacer } = workspace.stores.nodes
      const operations = await mapPaced(pacer, request.body.operations, (item) =>
        readOperation(item.op, item, spelledPath(item, 'path')),
      )
      const { receipt } = await workspace.paths.change(branch, asker, (edit) =>
        takeSteps(operations.entries(), ([index, operation]) =>
          doNumbered(edit, operation, `operations[${index}]`),
        ),
      )
      return { seq: receipt.seq }
    },
  )
}

function* doNumbered(edit: TreeEdit, operation: PathOperation, place: string): Steps<void> {
  try {
    yield* inSteps(operation(edit))
  } catch (error) {
    if (isFsError(error)) throw new OperationFailed(error, place)
    throw error
  }
}
