import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defaultExclude, defineConfig } from 'vitest/config'
import LongestFirst from './scripts/longest-first.mjs'
import { mountShortSuite } from './scripts/mount-short-suite.mjs'

/** Tests that change nothing of the process they run in. */
const inOneProcess = [
  'packages/{agents,core,protocol,sdk,server}/{src,test}/**/*.test.ts',
  'packages/mount/src/{classes,data,filesystem,fsmonitor,image,kernel,locks,outbox,session,status,sync,tool-calls,vault}/**/*.test.ts',
  'test/{attacks,jobs,merge,model,races,sessions,vault}/**/*.test.ts',
]

export default defineConfig({
  // Packages resolve to each other's sources, so tests never see a stale build.
  ssr: { resolve: { conditions: ['source'] } },
  test: {
    execArgv: ['--import', fileURLToPath(new URL('test/shared/eventsource.mjs', import.meta.url))],
    projects: [
      {
        extends: true,
        test: {
          name: 'in one process',
          include: inOneProcess,
          // Loading the sources for each file would take a third of their time.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'cairn',
          include: [
            'packages/*/{src,test}/**/*.test.ts',
            'test/**/*.test.ts',
            'scripts/**/*.test.ts',
          ],
          exclude: [...defaultExclude, ...inOneProcess],
        },
      },
      {
        extends: true,
        test: {
          name: 'as on Linux 6.1',
          include: mountShortSuite,
          env: { CAIRN_FUSE_MINOR: '37' },
        },
      },
    ],
    // Hundreds of commands are started from their sources; two thirds of their time would be compiling them.
    env: {
      NODE_COMPILE_CACHE: fileURLToPath(new URL('node_modules/.cairn-compiled', import.meta.url)),
    },
    sequence: { sequencer: LongestFirst },
    globalSetup: fileURLToPath(new URL('test/shared/setup.ts', import.meta.url)),
    // Checks the answers of each server against the schemas of its routes.
    setupFiles: [fileURLToPath(new URL('packages/server/test/check-answers.ts', import.meta.url))],
    // Two for each core: tests wait for disks, processes and deadlines for about half of their time.
    maxWorkers: 2 * availableParallelism(),
    // Ends a hang, nothing else: a slow machine must not fail a test.
    testTimeout: 60_000,
    // scripts/kernel sets it: the option --hookTimeout does not reach projects.
    hookTimeout: Number(process.env['CAIRN_TEST_HOOK_MS'] ?? 60_000),
    expect: { poll: { timeout: 30_000 } },
  },
})
