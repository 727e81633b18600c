import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

let found: Promise<string> | undefined

/** The compiled native/jail.c: the part of a jail that needs system calls. */
export function findHelper(): Promise<string> {
  found ??= find()
  return found
}

/** Beside what is running or one folder up, where a bundle has it; else in the package, as it was published. */
function findShipped(): string | undefined {
  const name = `jail-${process.platform}-${process.arch}`
  const isSource = import.meta.url.endsWith('.ts')
  const folders = isSource ? ['./', '../'] : ['./', '../', '../../native/prebuilt/']
  return folders
    .map((folder) => `${folder}${name}`)
    .map((place) => fileURLToPath(new URL(place, import.meta.url)))
    .find((place) => existsSync(place))
}

async function find(): Promise<string> {
  const shipped = findShipped()
  if (shipped !== undefined) return shipped
  const script = new URL('../../native/build.mjs', import.meta.url)
  if (!existsSync(script))
    throw new Error(
      `cannot make a jail: no helper was shipped for ${process.platform} on ${process.arch}. ` +
        'Jails need Linux; packages are published with a helper for x64 and arm64.',
    )
  const { buildJailHelper } = (await import(script.href)) as { buildJailHelper: () => string }
  return buildJailHelper()
}
