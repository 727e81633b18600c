import type { Vault } from '@cairn/sdk'
import type { Cli } from '../cli.ts'
import { openWorkspace, type WorkspaceValues } from '../remote/open.ts'

/** The token of a grant stands wherever a key does, for the vault alone. */
export function withVaultToken(cli: Pick<Cli, 'env' | 'home'>): Pick<Cli, 'env' | 'home'> {
  for (const family of ['CAIRN', 'DRIVE9']) {
    const token = cli.env[`${family}_VAULT_TOKEN`]
    if (token) return { home: cli.home, env: { ...cli.env, [`${family}_API_KEY`]: token } }
  }
  return cli
}

export async function openVault(cli: Cli, values: WorkspaceValues): Promise<Vault> {
  return (await openWorkspace(withVaultToken(cli), values)).vault
}
