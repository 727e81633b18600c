import type { IssuedKey } from '@cairn/sdk'
import type { Cli } from '../cli.ts'
import { openSecretFile } from '../context/secret-file.ts'

export const outOption = {
  out: {
    kind: 'text',
    value: 'FILE',
    summary: 'Write the secret to this file, for you alone, instead of printing it',
  },
} as const

/** Opens the file before there is a key: a place that cannot be written must not cost a secret that is shown once. */
export async function issueTo(
  cli: Cli,
  out: string | undefined,
  issue: () => Promise<IssuedKey>,
): Promise<IssuedKey> {
  const file = out === undefined ? undefined : await openSecretFile(out)
  const key = await issue().catch(async (error: unknown) => {
    await file?.discard()
    throw error
  })
  const { secret, ...told } = key
  await file?.write(`${secret}\n`)
  if (cli.isJson) await cli.out.json(file ? { ...told, out } : key)
  else if (!file) await cli.out.line(secret)
  return key
}
