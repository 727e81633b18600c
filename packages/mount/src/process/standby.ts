import { accessSync, constants, existsSync } from 'node:fs'
import { buildScript, findShipped } from '../fuse/shipped.ts'

let found: Promise<string | undefined> | undefined

/**
 * The compiled native/standby.c, which holds the descriptors of a supervisor, and becomes the supervisor when there is
 * something to do. Undefined where there is none: then the supervisor waits itself, as a Node process.
 */
export function findStandby(): Promise<string | undefined> {
  found ??= find()
  return found
}

async function find(): Promise<string | undefined> {
  const shipped = findShipped([`standby-${process.platform}-${process.arch}`])
  try {
    // Archives of some kinds lose the mode of files.
    if (shipped !== undefined) accessSync(shipped, constants.X_OK)
    if (shipped !== undefined || !existsSync(buildScript)) return shipped
    const { buildStandby } = (await import(buildScript.href)) as { buildStandby: () => string }
    return buildStandby()
  } catch {
    return undefined
  }
}
