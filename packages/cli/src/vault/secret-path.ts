import { usageError } from '../errors.ts'

/** `prod-db`, `prod-db/DB_URL`, or the same below where a vault is mounted: `/n/vault/prod-db/DB_URL`. */
export interface SecretPath {
  readonly secret: string
  readonly field?: string
}

export function parseSecretPath(text: string): SecretPath {
  const names = text
    .replace(/^:?\/n\/vault(?=\/|$)/, '')
    .split('/')
    .filter((name) => name !== '')
  const [secret, field] = names
  if (secret !== undefined && names.length <= 2)
    return { secret, ...(field === undefined ? {} : { field }) }
  throw usageError(
    `find the secret '${text}'`,
    'it is no path of one',
    'Give NAME, NAME/FIELD or /n/vault/NAME/FIELD.',
  )
}

/** Where only a whole secret makes sense. */
export function parseSecretName(text: string): string {
  const { secret, field } = parseSecretPath(text)
  if (field === undefined) return secret
  throw usageError(`use '${text}'`, 'it is one field of a secret', `Give the secret: ${secret}.`)
}

export function showSecretPath({ secret, field }: SecretPath): string {
  return field === undefined ? secret : `${secret}/${field}`
}
