import { mkdirSync } from 'node:fs'
import type { MountConfig } from '@cairn/mount/beside'
import type { Cli } from '../cli.ts'
import { findCredentials } from '../context/credentials.ts'
import { openWorkspace, type WorkspaceValues } from '../remote/open.ts'
import { withVaultToken } from '../vault/open-vault.ts'
import { vaultPath } from './describe.ts'
import { runForeground } from './foreground.ts'
import { refuseOwnPlaces } from './own-places.ts'
import { mountPointOf, stateDirectory } from './places.ts'
import { clearPlace, makeMountPoint } from './prepare.ts'
import { StartingMount } from './starting-mount.ts'

interface VaultMountValues extends WorkspaceValues {
  readonly foreground: boolean
  readonly 'allow-other': boolean
}

export async function startVaultMount(
  cli: Cli,
  path: string,
  options: VaultMountValues,
): Promise<void> {
  const mountPoint = mountPointOf(path)
  refuseOwnPlaces(cli, mountPoint)
  await clearPlace(cli, mountPoint, path)
  const config = await configOf(cli, mountPoint, options)
  const undo = makeMountPoint(mountPoint)
  try {
    mkdirSync(config.directory, { recursive: true, mode: 0o700 })
    if (options.foreground)
      return await runForeground(cli, config, 'vault-daemon', `the vault of ${config.workspace}`)
    const starting = await StartingMount.start('vault-supervisor')
    await starting.begin(cli, config)
  } catch (error) {
    undo()
    throw error
  }
  const { workspace } = config
  if (cli.isJson) return cli.out.json({ mountPoint, workspace, readOnly: true })
  await cli.out.line(
    `mounted the vault of ${workspace} on ${mountPoint}; end it with: cairn umount ${path}`,
  )
}

async function configOf(
  cli: Cli,
  mountPoint: string,
  options: VaultMountValues,
): Promise<MountConfig> {
  const asker = withVaultToken(cli)
  const { name: workspace } = await openWorkspace(asker, options)
  const { server, apiKey: key } = await findCredentials(asker, options)
  const directory = stateDirectory(cli, mountPoint)
  return {
    mountPoint,
    server,
    key,
    workspace,
    branch: 'main',
    path: vaultPath,
    readOnly: true,
    allowOther: options['allow-other'],
    sharedLocks: false,
    durability: 'auto',
    directory,
    cacheDirectory: directory,
    cacheBytes: 0,
    memoryBytes: 0,
    uid: undefined,
    gid: undefined,
  }
}
