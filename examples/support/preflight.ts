import { accessSync, constants } from 'node:fs'

const device = '/dev/fuse'
const doctor =
  'This lists everything that is missing: npm run build && node_modules/.bin/cairn doctor'

/** Throws, with the remedy, where no sandbox with a workspace can be made. What only the kernel knows, it tells later. */
export function assertSandboxes(): void {
  if (process.platform !== 'linux')
    throw new Error(
      `cannot start a local sandbox on ${process.platform}: jails need Linux. Use a Linux machine, or --provider e2b.`,
    )
  try {
    accessSync(device, constants.R_OK | constants.W_OK)
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    const why = isMissing ? `there is no ${device}` : `this user may not open ${device}`
    const fix = isMissing
      ? `Try: sudo modprobe fuse; in a container: --device ${device} --cap-add SYS_ADMIN.`
      : `Run it as root: sudo npm run quickstart; or: sudo chmod 666 ${device}.`
    throw new Error(`cannot mount a workspace: ${why}. ${fix}\n${doctor}`, { cause: error })
  }
}
