import { text } from 'node:stream/consumers'
import { fromByteString, type Grant, grantOfToken, isToken, parseToken } from '@cairn/protocol'
import type { Cli } from '../cli.ts'
import { readSecretFile } from '../context/secret-file.ts'
import { usageError } from '../errors.ts'

/** A token and what it says of itself. */
export interface OwnToken {
  readonly id: string
  readonly allow: readonly {
    readonly path: string
    readonly operations: Grant['rules'][number]['operations']
  }[]
  readonly deny: readonly string[]
  readonly layer?: string
  readonly maxBytes?: number
  readonly maxFiles?: number
  /** By narrowing; when the one it was made from ends, only its owner's server knows. */
  readonly notAfter?: string
}

/** Reads a token without a request. Only the server knows whether it is genuine and still valid. */
export function readOwnToken(secret: string): OwnToken {
  const token = parseToken(secret)
  const grant = token && grantOfToken(token)
  if (!token || !grant)
    throw usageError(
      'read the token',
      'this command needs a token, and the key in use is an owner key or unknown',
      'Use a context or CAIRN_API_KEY with a token; list tokens with: cairn token list.',
    )
  const { rules, deny, layer, maxBytes, maxFiles, notAfterMs } = grant
  const shown = (path: string): string => new TextDecoder().decode(fromByteString(path))
  return {
    id: token.id,
    allow: rules.map(({ prefix, operations }) => ({ path: shown(prefix), operations })),
    deny: deny.map(shown),
    ...(layer === undefined ? {} : { layer }),
    ...(maxBytes === undefined ? {} : { maxBytes }),
    ...(maxFiles === undefined ? {} : { maxFiles }),
    ...(notAfterMs === undefined ? {} : { notAfter: new Date(notAfterMs).toISOString() }),
  }
}

interface KeyValues {
  readonly 'api-key'?: string | undefined
  readonly token?: string | undefined
  readonly 'api-key-file'?: string | undefined
}

/** The key or token that a command is to save; undefined where none is given. */
export async function readKeyOption(cli: Cli, values: KeyValues): Promise<string | undefined> {
  const { token, 'api-key-file': file, 'api-key': key } = values
  const said = key ?? (token !== undefined && isToken(token) ? token : undefined)
  if (said !== undefined) {
    const option = key === undefined ? '--token' : '--api-key-file'
    await cli.err.line(
      `warning: other users of this machine could see that secret in the list of processes. Next time: ${option} FILE, or ${option} - for standard input`,
    )
    return said
  }
  const path = token ?? file
  return path === undefined ? undefined : readSecret(cli, path)
}

/** From a file that only its owner can read, or the standard input: an argument is seen in the list of processes. */
export async function readSecret(cli: Cli, path: string): Promise<string> {
  return path === '-' ? (await text(cli.stdin)).trim() : await readSecretFile(path)
}
