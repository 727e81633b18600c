import { relative } from 'node:path'
import { BaseSequencer } from 'vitest/node'

/**
 * The test files that take longest, the longest first: one that began last would keep the whole run waiting. Vitest knows
 * them only after a first run, and a run of CI is always a first one.
 */
export const longFiles = [
  'test/mount/questions.test.ts',
  'test/e2e/cli-mount.test.ts',
  'test/mount/git-fsmonitor.test.ts',
  'test/interleavings/interleavings.test.ts',
  'test/mount/stress.test.ts',
  'test/cluster/mounts.test.ts',
  'test/simulation/trees-shard-1.test.ts',
  'test/simulation/trees-shard-2.test.ts',
  'test/mount/random.test.ts',
  'test/mount/writers.test.ts',
  'test/mount/window.test.ts',
  'test/e2e/quickstart.test.ts',
  'test/mount/recall.test.ts',
  'test/clients/crowd.test.ts',
  'test/mount/restart.test.ts',
  'test/mount/short-connections.test.ts',
  'test/faults/stores.test.ts',
  'test/crash/killed-import.test.ts',
  'test/mount/crash.test.ts',
  'test/mount/posix.test.ts',
  'test/mount/posix-layers.test.ts',
  'test/mount/attempts.test.ts',
  'test/e2e/points-cli.test.ts',
  'test/e2e/cli-up.test.ts',
  'scripts/readme-examples.test.ts',
  'test/crash/killed-server.test.ts',
  'test/agents/exec-e2b.test.ts',
  'packages/server/src/verify/verify-stores.test.ts',
  'packages/server/src/storage/mysql/mysql-database.test.ts',
  'test/races/races.test.ts',
  'packages/server/src/storage/crash.test.ts',
  'packages/server/src/storage/sqlite/sqlite-database.test.ts',
  'packages/server/src/storage/s3/s3-object-store.test.ts',
  'packages/server/src/search/points-in-time.test.ts',
]

/** Long files, then those that share processes, which must follow one another, then the rest. */
export default class LongestFirst extends BaseSequencer {
  /**
   * @override
   * @param {import('vitest/node').TestSpecification[]} files
   */
  async sort(files) {
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b))
  }
}

/** @param {import('vitest/node').TestSpecification} file */
function rankOf({ moduleId, project }) {
  const place = longFiles.indexOf(relative(project.config.root, moduleId))
  const rank = place < 0 ? longFiles.length : place
  if (!project.config.isolate) return 2 * longFiles.length + rank
  return place < 0 ? 4 * longFiles.length : rank
}
