import { closeSync, readSync } from 'node:fs'
import { CairnError } from '@cairn/protocol'
import {
  canResend,
  type InitInfo,
  mapsDirectFiles,
  maxWriteBytes,
  negotiate,
} from '../fuse/init.ts'
import { mountFuse, unmount } from '../fuse/mounting.ts'
import { Request } from '../fuse/request.ts'

export interface KernelFeatures {
  /** `7.45` */
  readonly protocol: string
  /** A daemon that takes over is asked again what the one before did not answer. */
  readonly canResend: boolean
  /** What is only written goes past the kernel's pages, which saves requests. */
  readonly mapsDirectFiles: boolean
}

/** The kernel refuses a smaller buffer than its largest request needs. */
const requestBytes = maxWriteBytes + 4096

/** Mounts on an empty directory, hears what the kernel offers, and unmounts. Throws when that cannot be done. */
export async function probeKernel(directory: string): Promise<KernelFeatures> {
  const { fd } = await mountFuse(directory, { fsName: 'cairn:probe' })
  try {
    const request = new Request(new ArrayBuffer(requestBytes))
    // INIT is there when the mount is.
    request.begin(readSync(fd, request.bytes))
    const info: InitInfo | undefined = negotiate(request, false)
    const protocol = `${request.u32(40)}.${request.u32(44)}`
    if (info === undefined)
      throw new CairnError('mount_failed', {
        what: `mount ${directory}`,
        reason: `the kernel speaks FUSE ${protocol}, and 7.31 is needed`,
        hint: 'Use Linux 5.4 or newer.',
      })
    return { protocol, canResend: canResend(info), mapsDirectFiles: mapsDirectFiles(info) }
  } finally {
    await unmount(directory, { lazy: true }).finally(() => closeSync(fd))
  }
}
