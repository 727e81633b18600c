import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { Cli } from '../cli.ts'
import { usageError } from '../errors.ts'

export type FieldValues = Record<string, Uint8Array>

/**
 * `field=value`, `field=@file`, or `field=-` for standard input. What stands on the command line can be seen by other
 * users of the machine while the command runs; files and standard input cannot.
 */
export async function readValues(cli: Cli, words: readonly string[]): Promise<FieldValues> {
  const values: FieldValues = {}
  for (const word of words) {
    const [, field, text] = /^([^=]+)=([^]*)$/.exec(word) ?? []
    if (field === undefined || text === undefined)
      throw usageError(
        `take '${word}'`,
        'it sets no field',
        'Give FIELD=VALUE, FIELD=@FILE or FIELD=-.',
      )
    if (Object.hasOwn(values, field))
      throw usageError(`set the field ${field}`, 'it is given twice', 'Give it once.')
    values[field] = await readValue(cli, text)
  }
  if (words.filter((word) => word.endsWith('=-')).length > 1)
    throw usageError(
      'read standard input',
      'two fields want it',
      'Give one of them as FIELD=@FILE.',
    )
  return values
}

async function readValue(cli: Cli, text: string): Promise<Uint8Array> {
  if (text === '-') return buffer(cli.stdin)
  if (text.startsWith('@')) return readFile(text.slice(1))
  return Buffer.from(text)
}

/** One field for each file of a directory, as a mounted vault shows them. */
export async function readDirectory(directory: string): Promise<FieldValues> {
  const values: FieldValues = {}
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    if (!entry.isFile())
      throw usageError(
        `read the fields in ${directory}`,
        `${entry.name} is no file`,
        'Give a directory that holds one file for each field, and nothing else.',
      )
    values[entry.name] = await readFile(join(directory, entry.name))
  }
  return values
}
