import { accessSync, constants, mkdirSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { findShippedFuseIo, loadFuseIo } from '@cairn/mount/beside'
import { isCairnError } from '@cairn/protocol'
import type { Cli } from '../cli.ts'
import { listMounts } from '../mount/find-mount.ts'
import { mountsDirectory } from '../mount/places.ts'
import { formatBytes } from '../output/format.ts'
import { type Check, fail, ok, warn } from './check.ts'
import { findHelper, readSettings, tryDevice, tryKernel } from './facts.ts'
import { checkAllowOther, checkDevice, checkHelper, checkKernel, device } from './fuse.ts'
import { checkPlace, readPlaceFacts } from './place.ts'

/** As package.json has it under engines. */
const nodeMin = [22, 15] as const
const littleBytes = 1 << 30
const tooLittleBytes = 64 << 20

/** What this machine must have for mounts, in the order in which a mount needs it. */
export async function checkMachine(cli: Cli): Promise<Check[]> {
  const isRoot = process.getuid?.() === 0
  const native = await checkNative()
  const found = checkDevice(tryDevice(device))
  const canTry = native.state === 'ok' && found.state === 'ok'
  return [
    checkPlace(readPlaceFacts(cli.env)),
    checkNode(),
    native,
    found,
    isRoot ? ok('fusermount3', 'not needed by root') : checkHelper(findHelper(cli.env['PATH'])),
    isRoot
      ? ok('allow-other', 'root may let other users in')
      : checkAllowOther(readSettings('/etc/fuse.conf')),
    ...(canTry ? checkKernel(await tryKernel()) : []),
    checkCache(cli),
    ...checkMounts(cli),
  ]
}

function checkNode(): Check {
  const { node } = process.versions
  const [major = 0, minor = 0] = node.split('.').map(Number)
  const isNew = major > nodeMin[0] || (major === nodeMin[0] && minor >= nodeMin[1])
  return isNew
    ? ok('node', node)
    : fail('node', `${node}, and ${nodeMin.join('.')} is needed`, 'npm install -g node@24')
}

async function checkNative(): Promise<Check> {
  const shipped = findShippedFuseIo()
  try {
    await loadFuseIo()
    return ok('transport', shipped ?? 'compiled on this machine')
  } catch (error) {
    return isCairnError(error)
      ? fail('transport', error.problem, error.hint)
      : fail('transport', (error as Error).message, 'npm run build')
  }
}

function checkCache(cli: Cli): Check {
  const directory = dirname(mountsDirectory(cli))
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    accessSync(directory, constants.W_OK)
  } catch {
    return fail(
      'cache',
      `${directory} cannot be written to`,
      'XDG_CACHE_HOME=DIRECTORY cairn mount …',
    )
  }
  const { bavail, bsize } = statfsSync(directory)
  const free = bavail * bsize
  const says = `${formatBytes(free)} free in ${directory}`
  const fix = 'free some, or cairn mount --cache-dir DIRECTORY …'
  if (free < tooLittleBytes) return fail('cache', says, fix)
  return free < littleBytes ? warn('cache', says, fix) : ok('cache', says)
}

function checkMounts(cli: Cli): Check[] {
  return listMounts(cli).map(({ mountPoint, isRunning, givenUp }) => {
    if (isRunning) return ok('mount', mountPoint)
    const why = givenUp === undefined ? 'was killed' : `was given up: ${givenUp}`
    return warn('mount', `the one at ${mountPoint} ${why}`, `cairn umount ${mountPoint}`)
  })
}
