import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync, readFileSync, statfsSync, statSync } from 'node:fs'
import { getSystemErrorMap } from 'node:util'
import { CairnError } from '@cairn/protocol'
import { abortConnection } from './abort.ts'
import { errno } from './errno.ts'
import { findFusermount } from './find-fusermount.ts'
import { findOurMount } from './mount-table.ts'
import { type FuseIo, loadFuseIo } from './native.ts'

const device = '/dev/fuse'
const flag = { readOnly: 1, noSuid: 2, noDev: 4 } as const
const detach = 2
/** Ends the connection first. A thread that tells the kernel something may wait in it, and could not even be killed. */
const force = 1

export interface MountOptions {
  /** What `mount` and `df` show as the source. */
  readonly fsName?: string
  readonly readOnly?: boolean
  /** Other users may enter, too. */
  readonly allowOther?: boolean
  /** The kernel checks permissions by mode, owner and group. */
  readonly defaultPermissions?: boolean
  readonly mounter?: Mounter | undefined
  /** Dead mounts of ours in that place are taken away first, at the last moment: programs write nothing below them. */
  readonly replacesDead?: boolean | undefined
}

/** A command with the manners of fusermount3 that mounts where this process does not see: in a sandbox. */
export type Mounter = readonly [file: string, ...args: string[]]

export interface Mounted {
  /** /dev/fuse, mounted. Nothing answers yet: a program that enters waits. */
  readonly fd: number
  readonly how: 'mount' | 'helper'
}

/** Mounts over a directory, empty or not. Ordinary users need fusermount3; root needs only the device. */
export async function mountFuse(dir: string, options: MountOptions = {}): Promise<Mounted> {
  if (options.mounter !== undefined)
    return mountByHelper(await loadFuseIo(), dir, options, options.mounter)
  const io = await loadFuseIo()
  if (options.replacesDead === true) while (isOursAndDead(dir)) await unmount(dir, { lazy: true })
  checkMountPoint(dir)
  return process.getuid?.() === 0
    ? mountDirectly(io, dir, options)
    : mountByHelper(io, dir, options)
}

/**
 * Lazily: also while programs use it. The connection ends first, so that callers which wait for an answer get an error. An ordinary
 * user can do that only where fusectl is mounted.
 */
export async function unmount(
  dir: string,
  {
    lazy = false,
    mounter,
  }: { readonly lazy?: boolean; readonly mounter?: Mounter | undefined } = {},
): Promise<void> {
  if (mounter !== undefined) return unmountByHelper(dir, lazy, mounter)
  if (process.getuid?.() !== 0) {
    const connection = lazy ? findOurMount(dir)?.connection : undefined
    if (connection !== undefined) await abortConnection(connection)
    return unmountByHelper(dir, lazy)
  }
  const io = await loadFuseIo()
  const forced = await io.umount(dir, lazy ? detach | force : 0)
  // In a user namespace, root may detach its mounts but not force them.
  const result = lazy && forced === -errno.EPERM ? await io.umount(dir, detach) : forced
  if (result < 0) throw failUnmount(dir, describe(result))
}

/** Its connection was ended, so the question is answered at once. `stat` would be answered from the kernel's memory. */
function isOursAndDead(dir: string): boolean {
  if (!findOurMount(dir)) return false
  try {
    statfsSync(dir)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOTCONN'
  }
}

function failUnmount(dir: string, why: string): Error {
  return new CairnError('umount_failed', {
    what: `unmount ${dir}`,
    reason: why,
    hint: `If programs still use it, end them (fuser -vm ${dir} names them), or unmount lazily.`,
  })
}

function fail(dir: string, why: string, remedy: string, cause?: unknown): Error {
  return new CairnError('mount_failed', {
    what: `mount ${dir}`,
    reason: why,
    hint: remedy,
    subject: dir,
    cause,
  })
}

/** Describes a negative errno. */
function describe(result: number): string {
  const [name, meaning] = getSystemErrorMap().get(result) ?? [`errno ${-result}`, 'unknown']
  return `${meaning} (${name})`
}

function checkMountPoint(dir: string): void {
  let isDirectory: boolean
  try {
    isDirectory = statSync(dir).isDirectory()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') throw fail(dir, 'it does not exist', `Make it: mkdir -p ${dir}`, error)
    if (code === 'ENOTCONN')
      throw fail(dir, 'a dead mount is in its place', `Remove that: umount -l ${dir}`, error)
    throw error
  }
  if (!isDirectory) throw fail(dir, 'it is not a directory', 'Name a directory.')
}

function openDevice(dir: string): number {
  try {
    return openSync(device, constants.O_RDWR | constants.O_NONBLOCK)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    const [why, remedy] = deviceRemedies[code] ?? [
      `${device}: ${code}`,
      deviceRemedies['ENOENT']![1],
    ]
    throw fail(dir, why, remedy, error)
  }
}

const deviceRemedies: Readonly<Record<string, readonly [why: string, remedy: string]>> = {
  ENOENT: [
    `there is no ${device}`,
    `On a machine of yours: modprobe fuse. In a container: start it with --device ${device} --cap-add SYS_ADMIN.`,
  ],
  ENODEV: [`the kernel has no FUSE behind ${device}`, 'Load it: modprobe fuse.'],
  EACCES: [`this user may not open ${device}`, `Allow it: sudo chmod 666 ${device}.`],
  EPERM: [
    `this container may not use ${device}`,
    `Start it with --device ${device} --cap-add SYS_ADMIN.`,
  ],
}

function mountDirectly(io: FuseIo, dir: string, options: MountOptions): Mounted {
  const fd = openDevice(dir)
  const flags = flag.noSuid | flag.noDev | (options.readOnly ? flag.readOnly : 0)
  const words = [`fd=${fd}`, 'rootmode=40000', 'user_id=0', 'group_id=0', ...sharedOptions(options)]
  const result = io.mount(options.fsName ?? 'cairn', dir, flags, words.join(','))
  if (result === 0) return { fd, how: 'mount' }
  closeSync(fd)
  throw fail(dir, describe(result), mountRemedies[result] ?? 'The kernel log (dmesg) may say more.')
}

const mountRemedies: Readonly<Record<number, string>> = {
  [-1]: 'In a container, start it with --cap-add SYS_ADMIN; elsewhere, run as root or install fuse3.',
  [-19]: 'The kernel has no FUSE: modprobe fuse.',
}

function sharedOptions({ allowOther, defaultPermissions }: MountOptions): string[] {
  return [
    ...(allowOther ? ['allow_other'] : []),
    ...(defaultPermissions ? ['default_permissions'] : []),
  ]
}

async function mountByHelper(
  io: FuseIo,
  dir: string,
  options: MountOptions,
  mounter?: Mounter,
): Promise<Mounted> {
  if (options.allowOther && mounter === undefined) checkAllowOther(dir)
  const pair = io.socketPair()
  if (typeof pair === 'number') throw fail(dir, describe(pair), 'Close some files and try again.')
  const [ours, theirs] = pair
  try {
    const fsName = (options.fsName ?? 'cairn').replaceAll(/[\\,]/g, String.raw`\$&`)
    const words = [
      options.readOnly ? 'ro' : 'rw',
      'nosuid',
      'nodev',
      `fsname=${fsName}`,
      'subtype=cairn',
      ...sharedOptions(options),
    ]
    const args = ['-o', words.join(','), '--', dir]
    await runHelper(mounter, args, theirs, (why, remedy, cause) => fail(dir, why, remedy, cause))
    const fd = io.recvFd(ours)
    if (fd < 0) throw fail(dir, `the helper sent no descriptor: ${describe(fd)}`, 'Try again.')
    return { fd, how: 'helper' }
  } finally {
    closeSync(ours)
    closeSync(theirs)
  }
}

/** fusermount3 refuses by itself, but does not say which command fixes it. */
function checkAllowOther(dir: string): void {
  let settings = ''
  try {
    settings = readFileSync('/etc/fuse.conf', 'utf8')
  } catch {
    // No file, no permission given: as if it were empty.
  }
  if (/^\s*user_allow_other\s*$/m.test(settings)) return
  throw fail(
    dir,
    'only root may let other users in',
    'Allow it once: echo user_allow_other | sudo tee -a /etc/fuse.conf; or mount without --allow-other.',
  )
}

async function unmountByHelper(dir: string, lazy: boolean, mounter?: Mounter): Promise<void> {
  const args = ['-u', ...(lazy ? ['-z'] : []), '--', dir]
  await runHelper(mounter, args, 'ignore', (why) => failUnmount(dir, why))
}

/** What the helper says in containers, and what fixes it. */
const helperRemedies: readonly (readonly [sign: string, remedy: string])[] = [
  ['determine username', 'Give this user a name: sudo useradd --uid "$(id -u)" NAME.'],
  ['/etc/mtab', 'Make the file: sudo ln -s /proc/self/mounts /etc/mtab.'],
]

type HelperFailure = (why: string, remedy: string, cause?: unknown) => Error

async function runHelper(
  mounter: Mounter | undefined,
  args: readonly string[],
  socket: number | 'ignore',
  failure: HelperFailure,
): Promise<void> {
  const [file, ...before] = mounter ?? [findFusermount(process.env['PATH']) ?? 'fusermount3']
  const child = spawn(file, [...before, ...args], {
    stdio: ['ignore', 'ignore', 'pipe', socket],
    env: { ...process.env, _FUSE_COMMFD: '3' },
  })
  const said: Buffer[] = []
  child.stderr!.on('data', (data: Buffer) => said.push(data))
  let status: number | null
  try {
    ;[status] = (await once(child, 'close')) as [number | null]
  } catch (error) {
    throw failure(
      'fusermount3 is not installed',
      'Install it (Debian: apt-get install fuse3; Alpine: apk add fuse3), or mount as root.',
      error,
    )
  }
  if (status === 0) return
  const why = Buffer.concat(said).toString().trim().replaceAll('\n', '; ')
  const remedy = helperRemedies.find(([sign]) => why.includes(sign))?.[1]
  throw failure(
    why || `${file} ended with ${status}`,
    remedy ?? `Check that ${file} is setuid root and that ${device} has mode 666.`,
  )
}
