import type { Workspace } from '@cairn/sdk'
import type { Cli } from '../cli.ts'
import { usageError } from '../errors.ts'

/** What has git use a password that is written into no configuration and no URL. */
export interface GitSecret {
  /** Before the command of git. */
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

const helper =
  '!f() { test "$1" = get && echo username=x-access-token && echo "password=$CAIRN_GIT_SECRET"; }; f'

/** For the host of the URL alone: a redirect must not take the secret to another one. */
export function gitSecret(url: string, secret: string): GitSecret {
  const isHttp = /^https?:/i.test(url) && URL.canParse(url)
  const setting = isHttp ? `credential.${new URL(url).origin}.helper` : 'credential.helper'
  return {
    args: ['-c', 'credential.helper=', '-c', `${setting}=${helper}`],
    env: { CAIRN_GIT_SECRET: secret },
  }
}

/** With what `vault:NAME/FIELD` names. */
export async function readGitSecret(
  { signal }: Pick<Cli, 'signal'>,
  workspace: Workspace,
  url: string,
  name: string,
): Promise<GitSecret> {
  const match = /^vault:([^/]+)\/([^/]+)$/.exec(name)
  if (!match)
    throw usageError(`use the credential ${name}`, 'it names no field', 'Give vault:NAME/FIELD.')
  const value = await workspace.vault.readField(match[1]!, match[2]!, { signal })
  return gitSecret(url, Buffer.from(value).toString())
}
