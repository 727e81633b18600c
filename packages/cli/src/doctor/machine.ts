import { spawnSync } from 'node:child_process'
import {
  accessSync,
  constants,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmdirSync,
  statfsSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { findShippedFuseIo, loadFuseIo, probeKernel } from '@cairn/mount/beside'
import type { Cli } from '../cli.ts'
import { listMounts } from '../mount/find-mount.ts'
import { mountsDirectory } from '../mount/places.ts'
import { formatBytes } from '../output/format.ts'
import { type Check, fail, ok, warn } from './check.ts'

const nodeMajor = 24
const littleBytes = 1 << 30
const tooLittleBytes = 64 << 20
const device = '/dev/fuse'

/** What this machine must have for mounts, in the order in which a mount needs it. */
export async function checkMachine(cli: Cli): Promise<Check[]> {
  const isRoot = process.getuid?.() === 0
  const native = await checkNative()
  const found = checkDevice()
  const canTry = native.state === 'ok' && found.state === 'ok'
  return [
    checkNode(),
    native,
    found,
    isRoot ? ok('fusermount3', 'not needed by root') : checkHelper(),
    isRoot ? ok('allow-other', 'root may let other users in') : checkAllowOther(),
    ...(canTry ? [await checkKernel()] : []),
    checkCache(cli),
    ...checkMounts(cli),
  ]
}

function checkNode(): Check {
  const { node } = process.versions
  return Number(node.split('.')[0]) >= nodeMajor
    ? ok('node', node)
    : fail('node', `${node}, and ${nodeMajor} is needed`, `npx -p node@${nodeMajor} cairn doctor`)
}

async function checkNative(): Promise<Check> {
  const shipped = findShippedFuseIo()
  try {
    await loadFuseIo()
    return ok('transport', shipped ?? 'compiled on this machine')
  } catch (error) {
    const [, why = '', mend = 'npm run build'] =
      /^(.*?)\. ([^]*)$/.exec((error as Error).message) ?? []
    return fail('transport', why, mend)
  }
}

function checkDevice(): Check {
  try {
    accessSync(device, constants.R_OK | constants.W_OK)
    return ok('device', device)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT'
      ? fail(
          'device',
          `there is no ${device}`,
          `modprobe fuse; in a container: --device ${device} --cap-add SYS_ADMIN`,
        )
      : fail('device', `this user may not open ${device}`, `sudo chmod 666 ${device}`)
  }
}

function checkHelper(): Check {
  const { error, stdout } = spawnSync('fusermount3', ['--version'], { encoding: 'utf8' })
  return error
    ? fail('fusermount3', 'not installed', 'sudo apt-get install fuse3 (Alpine: apk add fuse3)')
    : ok('fusermount3', stdout.trim())
}

function checkAllowOther(): Check {
  const name = 'allow-other'
  let settings = ''
  try {
    settings = readFileSync('/etc/fuse.conf', 'utf8')
  } catch {
    // Without the file nothing is allowed.
  }
  return /^\s*user_allow_other\s*$/m.test(settings)
    ? ok(name, 'users may let others in')
    : warn(
        name,
        'mount --allow-other is for root alone',
        'echo user_allow_other | sudo tee -a /etc/fuse.conf',
      )
}

/** By mounting, which alone tells. */
async function checkKernel(): Promise<Check> {
  const directory = mkdtempSync(join(tmpdir(), 'cairn-doctor-'))
  try {
    const { protocol, canResend } = await probeKernel(directory)
    return canResend
      ? ok('kernel', `mounts, FUSE ${protocol}`)
      : warn(
          'kernel',
          `mounts, FUSE ${protocol}; when a daemon is replaced, programs that wait at that moment may hang`,
          'use Linux 6.9 or newer',
        )
  } catch (error) {
    const { message } = error as Error
    const [, why = message, mend = 'dmesg | tail'] =
      /^(?:cannot mount [^:]*: )?(.*?)\. ([^]*)$/.exec(message) ?? []
    return fail('kernel', `cannot mount: ${why}`, mend)
  } finally {
    rmdirSync(directory)
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
  const mend = 'free some, or cairn mount --cache-dir DIRECTORY …'
  if (free < tooLittleBytes) return fail('cache', says, mend)
  return free < littleBytes ? warn('cache', says, mend) : ok('cache', says)
}

function checkMounts(cli: Cli): Check[] {
  return listMounts(cli).map(({ mountPoint, isRunning }) =>
    isRunning
      ? ok('mount', mountPoint)
      : warn('mount', `the one at ${mountPoint} was killed`, `cairn umount ${mountPoint}`),
  )
}
