import { hash } from 'node:crypto'
import { type ByteString, CairnError, type Grant, isVisible, seesAll } from '@cairn/protocol'
import { nameTaken } from '../points/errors.ts'
import type { LayerRecord } from '../ports/layer-store.ts'
import type { Branches } from '../workspaces/branches.ts'
import type { Asker } from '../workspaces/path-changes.ts'
import type { Scope } from '../access/access.ts'

/*
 * Names of layers are one list for a workspace, and a token may not see all of them. A name that a hidden layer has must
 * look free. So the token's own layer is then filed under the name and a mark of the token, and shown without the mark.
 */

const markCharacters = 10

/** Whether a layer exists for a token: its own if it is bound to one, else those whose path it can see. */
export function isShown(grant: Grant, layer: string, path: ByteString): boolean {
  return (grant.layer === undefined || grant.layer === layer) && isVisible(grant, path)
}

function ownName({ token }: Scope, name: string): string {
  return `${name}:${hash('sha256', token).slice(0, markCharacters)}`
}

/** What a token means by a reference: first of all a layer of its own that is filed under a mark. */
export async function ownReference(
  { layers, info }: Pick<Branches, 'layers' | 'info'>,
  scope: Scope | undefined,
  reference: string,
): Promise<string> {
  const own = scope && (await layers.findByName(info.id, ownName(scope, reference)))
  return own?.id ?? reference
}

/** The name to file a layer under. Throws `branch_exists` for one that the asker can see is taken. */
export async function freeName(
  workspace: Branches,
  { scope }: Asker,
  name: string,
): Promise<string> {
  const holder = await findHolder(workspace, name)
  if (holder === undefined && name !== 'main') return name
  const isHidden = scope && holder && !isShown(scope.grant, holder.id, holder.path)
  if (!isHidden) throw nameTaken(name)
  const own = ownName(scope, name)
  if (await findHolder(workspace, own)) throw nameTaken(name)
  return own
}

async function findHolder(
  { layers, info }: Pick<Branches, 'layers' | 'info'>,
  name: string,
): Promise<LayerRecord | undefined> {
  return (await layers.find(info.id, name)) ?? layers.findByName(info.id, name)
}

/** An id is unique among all layers. Only callers that see all layers may learn whether one is taken. */
export function requireIdChoice(scope: Scope, id: string | undefined): void {
  if (id === undefined || (seesAll(scope.grant) && scope.grant.layer === undefined)) return
  throw new CairnError('forbidden', {
    what: `choose '${id}' as a layer's id`,
    reason: 'the token does not see all layers; give it a name instead',
    subject: id,
  })
}
