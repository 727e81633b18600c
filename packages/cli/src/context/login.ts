import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Cli } from '../cli.ts'
import { asObject, readJsonFile, writeSecretFile } from './secret-file.ts'

/** What `cairn login` saves, or a program that makes sandboxes and puts the file into them. */
export interface Login {
  readonly token: string
  readonly apiUrl: string
  readonly workspace?: string
}

function loginPath({ home }: Pick<Cli, 'home'>): string {
  return join(home, '.cairn', 'credentials.json')
}

/** Undefined when no user is logged in. */
export function readLogin(cli: Pick<Cli, 'home'>): Promise<Login | undefined> {
  return readJsonFile(
    loginPath(cli),
    parseLogin,
    'Write {"token": …, "apiUrl": …}, or log in again: cairn login --server URL --api-key-file FILE.',
  )
}

/** Keep fields that this program does not know. */
function parseLogin(value: unknown): Login {
  const { token, apiUrl, workspace } = asObject(value, 'the file')
  if (typeof token !== 'string' || typeof apiUrl !== 'string' || token === '' || apiUrl === '')
    throw new TypeError('it has no token or no apiUrl')
  if (workspace !== undefined && typeof workspace !== 'string')
    throw new TypeError('its workspace is no text')
  return { token, apiUrl, ...(workspace && { workspace }) }
}

export async function saveLogin(cli: Pick<Cli, 'home'>, login: Login): Promise<void> {
  await writeSecretFile(loginPath(cli), login)
}

/** False when there was nothing to forget. */
export async function forgetLogin(cli: Pick<Cli, 'home'>): Promise<boolean> {
  return rm(loginPath(cli)).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false
      throw error
    },
  )
}
