import { existsSync, readdirSync } from 'node:fs'
import { isSea } from 'node:sea'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { usageError } from '../errors.ts'

/**
 * What a server hands out at /install: this very program, and what lies in the directory, which wins. Unless one is given,
 * `dist` in the data directory is it.
 */
export function findClientFiles(
  data: string,
  given: string | undefined,
  clientName: RegExp,
): Map<string, string> {
  const directory = resolve(given ?? join(data, 'dist'))
  if (given !== undefined && !existsSync(directory))
    throw usageError('hand out clients', `${directory} is not there`, 'Check --client-dir.')
  const names = existsSync(directory) ? readdirSync(directory) : []
  const found = names.filter((name) => clientName.test(name))
  if (given !== undefined && found.length === 0)
    throw usageError(
      'hand out clients',
      `${directory} has none`,
      'Put cairn-single, cairn-linux-x64 or cairn-linux-arm64 there; the last two also with .gz.',
    )
  return new Map([
    ...own(),
    ...found.map((name): [string, string] => [name, join(directory, name)]),
  ])
}

function own(): [string, string][] {
  if (isSea()) return [[`cairn-${process.platform}-${process.arch}`, process.execPath]]
  // One folder up from the bundle's chunks, or from the sources.
  const places = ['../cairn-single', '../../dist/cairn-single']
  const path = places
    .map((place) => fileURLToPath(new URL(place, import.meta.url)))
    .find((place) => existsSync(place))
  return path === undefined ? [] : [['cairn-single', path]]
}
