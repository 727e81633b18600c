import { vaultGrantRoutes as table } from '@cairn/protocol/routes'
import type { FastifyInstance } from 'fastify'
import type { VaultAuditTable } from '../../storage/vault-audit-table.ts'
import type { VaultGrants } from '../../vault/grants.ts'
import type { WorkspaceKeeper } from '../../workspaces/workspace-keeper.ts'
import { adderOf } from '../add-routes.ts'
import { ownerOf } from '../context.ts'
import { spanOfQuery } from '../time-query.ts'
import { openVault } from '../vault-context.ts'

const config = { access: 'owner' } as const

/** Who may use the vault, and who did. For owners: a grant makes no grants. */
export function vaultGrantRoutes(
  app: FastifyInstance,
  workspaces: WorkspaceKeeper,
  grants: VaultGrants,
  audit: VaultAuditTable,
): void {
  const add = adderOf(app, table)

  add('POST /v1/workspaces/:workspace/vault/grants', config, async (request, reply) => {
    const asker = await openVault(workspaces, request)
    void reply.code(201).header('cache-control', 'no-store')
    return grants.issue(asker, ownerOf(request), request.body)
  })

  add('GET /v1/workspaces/:workspace/vault/grants', config, async (request) => {
    const { workspace } = await openVault(workspaces, request)
    return grants.list(workspace, request.query.cursor ?? '', request.query.limit)
  })

  add('DELETE /v1/workspaces/:workspace/vault/grants/:grant', config, async (request) =>
    grants.revoke(await openVault(workspaces, request), request.params.grant),
  )

  add('GET /v1/workspaces/:workspace/vault/audit', config, async (request) => {
    const { workspace } = await openVault(workspaces, request)
    const { cursor, limit, ...filter } = request.query
    const before = cursor === undefined ? {} : { before: cursor }
    const wanted = { ...filter, ...spanOfQuery(filter), ...before }
    const items = await audit.list(workspace, wanted, limit)
    return items.length === limit ? { items, next: String(items.at(-1)!.id) } : { items }
  })
}
