import { inSteps, mapPaced, type Pacer, type Steps, takeSteps } from '@cairn/core'
import { type ChangeReceipt, CairnError, isFsError } from '@cairn/protocol'
import type { FastifyInstance } from 'fastify'
import type { TreeEdit } from '../../files/tree-edit.ts'
import type { Workspaces } from '../../workspaces/workspaces.ts'
import { bodyOf, openTarget } from '../context.ts'
import { OperationFailed } from '../errors.ts'
import { Fields } from '../fields.ts'
import { readJson } from '../json-body.ts'
import { type Operation, readOperation } from '../operations.ts'
import { branchQuery, objectSchema, workspaceParams } from '../schema.ts'

const operationsMax = 1000

export function batchRoutes(app: FastifyInstance, workspaces: Workspaces): void {
  app.post(
    '/v1/workspaces/:workspace/batch',
    {
      config: { access: ['write', 'delete'] },
      schema: {
        summary: 'Do several operations, all or none',
        params: workspaceParams,
        querystring: objectSchema(branchQuery),
      },
    },
    async (request): Promise<ChangeReceipt> => {
      const { workspace, branch, asker } = await openTarget(workspaces, request)
      const { pacer } = workspace.stores.nodes
      const operations = await readOperations(pacer, await readJson(bodyOf(request)))
      const { receipt } = await workspace.change(branch, asker, (edit) =>
        takeSteps(operations.entries(), ([index, operation]) =>
          doNumbered(edit, operation, `operations[${index}]`),
        ),
      )
      return { seq: receipt.seq }
    },
  )
}

function* doNumbered(edit: TreeEdit, operation: Operation, place: string): Steps<void> {
  try {
    yield* inSteps(operation(edit))
  } catch (error) {
    if (isFsError(error)) throw new OperationFailed(error, place)
    throw error
  }
}

function readOperations(pacer: Pacer, body: unknown): Promise<readonly Operation[]> {
  const list = (body as { operations?: unknown } | null)?.operations
  if (!Array.isArray(list) || list.length === 0 || list.length > operationsMax)
    throw new CairnError('invalid_argument', {
      what: 'read the batch',
      reason: `operations must be a list of 1 to ${operationsMax}`,
    })
  return mapPaced(pacer, list.entries(), ([index, item]) => {
    const fields = new Fields(item, `operations[${index}]`)
    return readOperation(fields.required('op'), fields, fields.path('path'))
  })
}
