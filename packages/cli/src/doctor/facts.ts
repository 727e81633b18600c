import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  rmdirSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findFusermount, type KernelFeatures, probeKernel } from '@cairn/mount/beside'
import type { Helper } from './fuse.ts'

/** The code of what goes wrong when it is opened; undefined when nothing does. */
export function tryDevice(path: string): string | undefined {
  try {
    closeSync(openSync(path, constants.O_RDWR | constants.O_NONBLOCK))
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code
  }
}

/** The first in a list of directories such as PATH. */
export function findHelper(directories = ''): Helper | undefined {
  const path = findFusermount(directories)
  if (path === undefined) return undefined
  const { mode, uid } = statSync(path)
  return { path, isSetuidRoot: (mode & 0o4000) !== 0 && uid === 0 }
}

/** Empty without the file. */
export function readSettings(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** By mounting, which alone tells. */
export async function tryKernel(): Promise<KernelFeatures | Error> {
  const directory = mkdtempSync(join(tmpdir(), 'cairn-doctor-'))
  try {
    return await probeKernel(directory)
  } catch (error) {
    return error as Error
  } finally {
    rmdirSync(directory)
  }
}
