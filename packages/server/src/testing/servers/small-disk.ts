import { makeTemporaryDirectory, removeDirectory } from '../../conformance/temporary-directory.ts'
import { runProgram } from './server-process.ts'

export const whyNoSmallDisk: string | undefined =
  process.getuid?.() === 0 ? undefined : 'skipped: mounting a small disk needs root'

/** Gives a disk of that size to `work`, and takes it away whatever happens. */
export async function withSmallDisk(
  sizeBytes: number,
  work: (path: string) => Promise<void>,
): Promise<void> {
  const path = await makeTemporaryDirectory()
  await runProgram('mount', ['-t', 'tmpfs', '-o', `size=${sizeBytes}`, 'tmpfs', path])
  try {
    await work(path)
  } finally {
    // Lazily: a test that failed may have left files open.
    await runProgram('umount', ['-l', path])
    await removeDirectory(path)
  }
}

export async function makeReadOnly(path: string): Promise<void> {
  await runProgram('mount', ['-o', 'remount,ro', path])
}
