import { dirname, join } from 'node:path/posix'
import { isCode, isShipped, packageOf } from './paths.ts'
import { forbidImport } from './rule.ts'
import type { Rule } from './rule.ts'

/** Who may import whom. Arrows point down and never come back. */
const importsOf: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  core: ['protocol'],
  // `/mcp` runs the tools of agents over the server's own routes, in process.
  server: ['core', 'agents', 'protocol'],
  sdk: ['protocol'],
  mount: ['core', 'protocol'],
  sandbox: ['sdk', 'mount', 'protocol'],
  agents: ['sdk', 'sandbox', 'protocol'],
  cli: ['sdk', 'agents', 'mount', 'sandbox', 'protocol'],
  console: ['sdk'],
}

const runsAnywhere = ['protocol', 'core', 'sdk']

/** What runs a server, works on the stores of one that is stopped, or checks what one wrote. */
const isServerCommand = (path: string): boolean =>
  /^packages\/cli\/src\/commands\/(?:serve(?:\.ts|r?\/)|ws\/verify\.ts)/.test(path)

/** The command talks to a server, and so do its tests. */
const isCommandTest = (path: string): boolean => /^packages\/cli\/src\/.*\.test\.ts$/.test(path)

function judgeDirection(specifier: string, importer: string): string | undefined {
  const target = /^@cairn\/([^/]+)/.exec(specifier)?.[1]
  const owner = packageOf(importer)
  if (target === undefined || owner === undefined) return undefined
  if (importsOf[owner]?.includes(target)) return undefined
  if (target === 'server' && (isServerCommand(importer) || isCommandTest(importer)))
    return undefined
  return `imports ${specifier} into ${owner}`
}

function judgeRelative(specifier: string, importer: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined
  const target = join(dirname(importer), specifier)
  return packageOf(target) === packageOf(importer) ? undefined : `imports ${specifier}`
}

export const importRules: readonly Rule[] = [
  {
    fact: 'packages import downwards only',
    remedy:
      'Move the shared part down into a package that both may import (usually protocol), or pass it in ' +
      'as a port; within a package import the file itself. The table is in scripts/tidy/import-rules.ts.',
    appliesTo: (path) => isCode(path) && packageOf(path) !== undefined,
    find: forbidImport(judgeDirection),
    broken: {
      'packages/sdk/src/open.ts': "import { fold } from '@cairn/core'",
      'packages/core/src/fold.test.ts': "import { fold } from '@cairn/core'",
      'packages/cli/src/commands/file/cat.ts': "await import('@cairn/server')",
      'packages/unheard-of/src/open.ts': "export * from '@cairn/protocol'",
    },
    kept: {
      'packages/sdk/src/open.ts': "import { parsePath } from '@cairn/protocol'",
      'packages/core/src/fold.test.ts': "import { fold } from './fold.ts'",
      'packages/cli/src/commands/serve.ts': "await import('@cairn/server')",
      'packages/cli/src/cat.test.ts': "import { serve } from '@cairn/server'",
      'test/e2e/open.test.ts': "import { serve } from '@cairn/server'",
    },
  },
  {
    fact: 'relative imports stay inside their package',
    remedy:
      'Import the other package by its name (@cairn/…) and export what you need from its index.ts.',
    appliesTo: isCode,
    find: forbidImport(judgeRelative),
    broken: {
      'test/fold.test.ts': "import { fold } from '../packages/core/src/fold.ts'",
      'packages/core/src/fold.ts': "import type {\n  Path,\n} from '../../protocol/src/path.ts'",
    },
    kept: {
      'test/fold.test.ts': "import { fold } from '@cairn/core'",
      'packages/core/src/tree/fold.ts': "import { hash } from '../ports/hash.ts'",
    },
  },
  {
    fact: 'core, protocol and sdk know no node: module',
    remedy:
      'They run anywhere, also in a browser: take it in as a port, or move the code to a package for Node.',
    appliesTo: (path) => runsAnywhere.includes(packageOf(path) ?? '') && isShipped(path),
    find: forbidImport((specifier) =>
      specifier.startsWith('node:') ? `imports ${specifier}` : undefined,
    ),
    broken: { 'packages/core/src/testing/disk.ts': "import { rm } from 'node:fs/promises'" },
    kept: { 'packages/core/src/fold.test.ts': "import { rm } from 'node:fs/promises'" },
  },
  {
    fact: 'only tests and testing/ know vitest',
    remedy:
      'Operators run the conformance cases where no test runner is installed: assert with expect of @cairn/core/conformance.',
    appliesTo: (path) => isShipped(path) && !path.includes('/testing/'),
    find: forbidImport((specifier) =>
      specifier === 'vitest' ? `imports ${specifier}` : undefined,
    ),
    broken: { 'packages/core/src/conformance/log.ts': "import { expect } from 'vitest'" },
    kept: {
      'packages/core/src/fold.test.ts': "import { expect } from 'vitest'",
      'packages/core/src/testing/run-cases.ts': "import { it } from 'vitest'",
    },
  },
]
