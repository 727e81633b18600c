import type { Secret, Vault } from '@cairn/sdk'
import { usageError } from '../errors.ts'
import { loadsCode } from './loading-names.ts'
import { parseSecretPath } from './secret-path.ts'

export interface Wanted {
  /** `prod-db`, or `prod-db/DB_URL` for one of its fields. */
  readonly secrets: readonly string[]
  /** `PGURL=prod-db/DB_URL`: a field under another name. */
  readonly renamed: readonly string[]
}

/** Reads secrets as variables of a process: all of them, or none. */
export async function readVariables(
  vault: Vault,
  { secrets, renamed }: Wanted,
  signal: AbortSignal,
): Promise<Map<string, string>> {
  const variables = new Map<string, string>()
  const known = new Map<string, Secret>()
  const read = async (secret: string): Promise<Secret> => {
    const found = known.get(secret) ?? (await vault.read(secret, { signal }))
    known.set(secret, found)
    return found
  }
  for (const path of secrets) {
    const { secret, field } = parseSecretPath(path)
    if (field === undefined)
      for (const [name, bytes] of (await read(secret)).fields) addVariable(variables, name, bytes)
    else
      addVariable(variables, field, await vault.readField(secret, field, { signal }), {
        isNamed: true,
      })
  }
  for (const word of renamed) {
    const { name, secret, field } = parseRenamed(word)
    addVariable(variables, name, await vault.readField(secret, field, { signal }), {
      isNamed: true,
    })
  }
  return variables
}

function parseRenamed(word: string): { name: string; secret: string; field: string } {
  const [, name, path = ''] = /^([^=]+)=([^]*)$/.exec(word) ?? []
  const { secret, field } = parseSecretPath(path)
  if (name !== undefined && field !== undefined) return { name, secret, field }
  throw usageError(`take --env ${word}`, 'it names no field', 'Give NAME=SECRET/FIELD.')
}

/** `isNamed`: the caller typed this name, so the author of the secret did not choose it. */
export function addVariable(
  variables: Map<string, string>,
  name: string,
  bytes: Uint8Array,
  { isNamed = false }: { readonly isNamed?: boolean } = {},
): void {
  const what = `give ${name} to the command`
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    throw usageError(what, 'it is no name of a variable', 'Rename it: --env NAME=SECRET/FIELD.')
  if (!isNamed && loadsCode(name))
    throw usageError(
      what,
      'this variable makes programs load or run other code',
      `If you want that, name it: vault exec --env ${name}=SECRET/${name}, or vault get --env SECRET/${name}.`,
    )
  if (variables.has(name))
    throw usageError(what, 'two secrets have it', 'Rename one of them: --env NAME=SECRET/FIELD.')
  variables.set(name, textOf(what, bytes))
}

function textOf(what: string, bytes: Uint8Array): string {
  const text = decode(bytes)
  if (text !== undefined && !text.includes('\0')) return text
  const hint = 'Read it into a file instead: cairn vault get SECRET/FIELD > FILE.'
  throw usageError(what, 'its value is not text', hint)
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
