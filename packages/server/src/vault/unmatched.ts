import type { VaultScope } from '@cairn/protocol'
import type { StoredSecret, VaultTable } from '../storage/vault-table.ts'
import { matches } from './scope.ts'

const listedMax = 1000

/** The scopes that no secret, or no field of one, matches now. */
export async function findUnmatched(
  secrets: VaultTable,
  workspace: string,
  scopes: readonly VaultScope[],
): Promise<readonly VaultScope[]> {
  const unmatched: VaultScope[] = []
  for (const scope of scopes)
    if (!(await isMatched(secrets, workspace, scope))) unmatched.push(scope)
  return unmatched
}

async function isMatched(
  secrets: VaultTable,
  workspace: string,
  { secret, field = '*' }: VaultScope,
): Promise<boolean> {
  for await (const { id, lastVersion } of named(secrets, workspace, secret)) {
    const newest = await secrets.findVersion(id, lastVersion)
    for (const each of newest?.fields.keys() ?? []) if (matches(field, each)) return true
  }
  return false
}

async function* named(
  secrets: VaultTable,
  workspace: string,
  pattern: string,
): AsyncGenerator<StoredSecret> {
  if (!pattern.endsWith('*')) {
    const found = await secrets.find(workspace, pattern)
    if (found) yield found
    return
  }
  for (let after = ''; ;) {
    const page = await secrets.list(workspace, after, listedMax)
    for (const secret of page) if (matches(pattern, secret.name)) yield secret
    if (page.length < listedMax) return
    after = page.at(-1)!.name
  }
}
