import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** `cairn` as one file that Node runs, made by `npm run build`. CAIRN_SINGLE_FILE names another. */
export async function findSingleFile(
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<string> {
  const named = env['CAIRN_SINGLE_FILE']
  const path = named || besidePackage()
  if (path !== undefined && existsSync(path)) return path
  throw new Error(
    `cannot find cairn as one file${path === undefined ? '' : ` at ${path}`}. ` +
      'Make it with `npm run build`, or set CAIRN_SINGLE_FILE to one.',
  )
}

/** It is a part of the command line's package, which need not be installed. */
function besidePackage(): string | undefined {
  try {
    const manifest = createRequire(import.meta.url).resolve('@cairn/cli/package.json')
    return join(dirname(manifest), 'dist', 'cairn-single')
  } catch {
    return undefined
  }
}
