/**
 * The mount's short suite: the test files that also run with the features of an older kernel, and inside one. Tests of
 * killed daemons are left out: before Linux 6.9 callers that wait for a daemon that dies get EIO. `resume.test.ts` says so.
 */
export const mountShortSuite = [
  'packages/mount/src/fuse/*.test.ts',
  'test/mount/posix.test.ts',
  'test/mount/questions.test.ts',
  'test/mount/shared.test.ts',
]
