import type { KernelFeatures } from '@cairn/mount/beside'
import { isCairnError } from '@cairn/protocol'
import { type Check, fail, ok, warn } from './check.ts'

/** What the facts of a machine mean for a mount. `facts.ts` finds them. */

export const device = '/dev/fuse'
const inContainer = `in a container: --device ${device} --cap-add SYS_ADMIN`

const deviceFailures: Readonly<Record<string, readonly [says: string, fix: string]>> = {
  ENOENT: [`there is no ${device}`, `sudo modprobe fuse; ${inContainer}`],
  ENODEV: [`the kernel has no FUSE behind ${device}`, 'sudo modprobe fuse'],
  EACCES: [`this user may not open ${device}`, `sudo chmod 666 ${device}`],
  EPERM: [`this container may not use ${device}`, inContainer],
}

/** With the code of what went wrong when it was opened, if something did. */
export function checkDevice(code: string | undefined): Check {
  if (code === undefined) return ok('device', device)
  const [says, fix] = deviceFailures[code] ?? [`${device}: ${code}`, 'dmesg | tail']
  return fail('device', says, fix)
}

/** The program that mounts for ordinary users. */
export interface Helper {
  readonly path: string
  /** Whether it runs as root, whichever user starts it. */
  readonly isSetuidRoot: boolean
}

export function checkHelper(helper: Helper | undefined): Check {
  const name = 'fusermount3'
  if (helper === undefined)
    return fail(name, 'not installed', 'sudo apt-get install fuse3 (Alpine: apk add fuse3)')
  const { path, isSetuidRoot } = helper
  if (isSetuidRoot) return ok(name, path)
  const fix = `sudo chown root ${path} && sudo chmod 4755 ${path}`
  return fail(name, `${path} is not setuid root, and so may not mount`, fix)
}

/** With what /etc/fuse.conf says; without the file nothing is allowed. */
export function checkAllowOther(settings: string): Check {
  return /^\s*user_allow_other\s*$/m.test(settings)
    ? ok('allow-other', 'users may let others in')
    : warn(
        'allow-other',
        'mount --allow-other is for root alone',
        'echo user_allow_other | sudo tee -a /etc/fuse.conf',
      )
}

/** With what it can do, or why a mount could not be made. */
export function checkKernel(found: KernelFeatures | Error): Check[] {
  const name = 'kernel'
  if (found instanceof Error) {
    const [why, fix] = isCairnError(found)
      ? [found.reason, found.hint]
      : [found.message, 'dmesg | tail']
    return [fail(name, `cannot mount: ${why}`, fix)]
  }
  const mounts = `mounts, FUSE ${found.protocol}`
  const weak = [
    ...(found.canResend
      ? []
      : [
          warn(
            name,
            `${mounts}; should a daemon crash, calls that wait for it then fail with EIO`,
            'use Linux 6.9 or newer',
          ),
        ]),
    ...(found.mapsDirectFiles
      ? []
      : [warn(name, `${mounts}; writing new files takes longer`, 'use Linux 6.6 or newer')]),
  ]
  return weak.length > 0 ? weak : [ok(name, mounts)]
}
