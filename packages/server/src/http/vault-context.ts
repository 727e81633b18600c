import { CairnError } from '@cairn/protocol'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { StoredGrant } from '../storage/vault-grant-table.ts'
import type { VaultAsker } from '../vault/audit.ts'
import { isGrantId, type VaultGrants } from '../vault/grants.ts'
import { workspaceMissing, type WorkspaceKeeper } from '../workspaces/workspace-keeper.ts'
import { askerOf, ownerOf } from './context.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route takes grants of the vault, and asks what they allow. */
    readonly takesGrants?: boolean
  }

  interface FastifyRequest {
    /** Set when a grant of the vault came in place of a key. */
    grant: StoredGrant | undefined
  }
}

/** A grant opens the routes that take grants. Stands after the check of keys, which finds grants too. */
export function limitGrants(app: FastifyInstance, grants: VaultGrants): void {
  app.decorateRequest('grant', undefined)
  app.addHook('onRequest', async (request) => {
    const { access, routeOptions, method } = request
    const actor = access?.actor
    if (actor === undefined || !isGrantId(actor)) return
    const grant = await grants.open(actor)
    if (routeOptions.config.takesGrants === true) {
      request.grant = grant
      return
    }
    const asker = { workspace: grant.workspace, actor, grant, requestId: request.id }
    await grants.noteStray(asker, `${method} ${routeOptions.url ?? 'nowhere'}`)
    throw new CairnError('vault_denied', {
      what: `${method} ${request.url.split('?')[0]}`,
      reason: 'a grant of the vault opens secrets only',
    })
  })
}

/** Who asks, and of which workspace's vault. A grant is good for its own workspace alone. */
export async function openVault(
  workspaces: WorkspaceKeeper,
  request: FastifyRequest,
): Promise<VaultAsker> {
  const { workspace: name } = request.params as { workspace: string }
  const { grant } = request
  const { info } = await workspaces.open(grant?.owner ?? ownerOf(request), name)
  if (grant && grant.workspace !== info.id) throw workspaceMissing(name)
  return {
    workspace: info.id,
    ...askerOf(request),
    ...(grant ? { grant } : {}),
    requestId: request.id,
  }
}
