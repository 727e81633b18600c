import { dirname, join } from 'node:path/posix'
import { isCode, isShipped, packageOf } from './paths.ts'
import { forbidText, lineAt } from './rule.ts'
import type { ProjectFile, Rule, Violation } from './rule.ts'

const linesMax = 450

/** The first file of a process: no caller above it could do it. */
const endsProcess = [
  'packages/cli/src/end-process.ts',
  'packages/sandbox/src/workspace/mount-daemon.ts',
]

function findTooLong({ text }: ProjectFile): Violation[] {
  const lines = text.trimEnd().split('\n').length
  return lines > linesMax ? [{ line: linesMax + 1, what: `goes on to line ${lines}` }] : []
}

/** Links in fenced or inline code are examples, not links. */
function findDeadLinks({ path, text }: ProjectFile, paths: ReadonlySet<string>): Violation[] {
  const prose = text.replace(/^```[^]*?^```|`[^`\n]*`/gm, (example) =>
    example.replace(/[^\n]/g, ' '),
  )
  const links = prose.matchAll(/\]\(<?([^)>\s]+)[^)]*\)|^\[[^\]]+\]:\s*(\S+)/gm)
  return [...links].flatMap((link) => {
    const target = link[1] ?? link[2] ?? ''
    if (/^(?:[a-z]+:|#)/.test(target)) return []
    const file = join(dirname(path), target.replace(/#.*/, ''))
    return exists(file, paths)
      ? []
      : [{ line: lineAt(text, link.index), what: `links to ${target}` }]
  })
}

function exists(path: string, paths: ReadonlySet<string>): boolean {
  const folder = path === './' || path === '.' ? '' : path.replace(/\/?$/, '/')
  return paths.has(path) || [...paths].some((other) => other.startsWith(folder))
}

/** A file may be named by the end of its path: `writer.ts`, `sync/writer.ts`, `mount/src/sync/writer.ts`. */
function findAbsentSources({ text }: ProjectFile, paths: ReadonlySet<string>): Violation[] {
  const names = text.matchAll(
    /`((?:[\w.-]+\/)*[\w.-]+\.(?:ts|mjs|c|py)|[\w-]+\/src(?:\/[\w.-]+)*\/?)`/g,
  )
  return [...names].flatMap((match) => {
    const name = match[1]!.replace(/\/$/, '')
    const isThere = [...paths].some((path) => `/${path}/`.includes(`/${name}/`))
    return isThere ? [] : [{ line: lineAt(text, match.index), what: `names \`${name}\`` }]
  })
}

/** Where words of others are read that come without a code, and whose they are. */
const readsWordsOfOthers: Readonly<Record<string, string>> = {
  'packages/cli/src/describe-error.ts': 'Node: which package is missing',
  'packages/cli/src/mount/is-dead.ts': 'stat(1)',
  'packages/sandbox/src/e2b-server/control/log-routes.ts':
    'lines of a log, by the words that a caller asks for',
  'packages/server/src/git/exported-repository.ts': 'commits, whose trailers are fields',
  'packages/server/src/sql/run-sql.ts':
    'SQLite, whose code is the same for what is denied and what is misspelt',
  'packages/server/src/storage/mysql/errors.ts':
    'MariaDB, whose number is the same for several causes',
}

const lastHeading = '## When it goes wrong'

function findUnguiding({ text }: ProjectFile): Violation[] {
  const startsWithCode = /^# .+\n\n```/.test(text)
  const last = [...text.matchAll(/^## .*$/gm)].at(-1)?.[0] ?? ''
  return [
    ...(startsWithCode ? [] : [{ line: 3, what: 'does not start with a command or a program' }]),
    ...(last.startsWith(lastHeading)
      ? []
      : [{ line: 1, what: `does not end with "${lastHeading}"` }]),
  ]
}

export const textRules: readonly Rule[] = [
  {
    fact: 'core takes time and chance from ports',
    remedy:
      'Take a clock or a source of randomness as a parameter: the same operations must give the same root.',
    appliesTo: (path) => packageOf(path) === 'core' && isShipped(path),
    find: forbidText(/\bDate\.now\b|\bnew Date\b|\bMath\.random\b|\bperformance\.now\b/g),
    broken: {
      'packages/core/src/a.ts': 'const now = Date.now()',
      'packages/core/src/b.ts': 'const now = new Date()',
      'packages/core/src/c.ts': '*seeds() { yield Math.random() }',
      'packages/core/src/testing/d.ts': 'const start = performance.now()',
    },
    kept: {
      'packages/core/src/a.ts': '/**\n * Never Date.now().\n */\nconst now = clock.now()',
      'packages/core/src/b.test.ts': 'const start = performance.now()',
    },
  },
  {
    fact: 'the process is ended in one place',
    remedy:
      'Throw a CairnError; packages/cli/src/exit.ts turns it into a message and an exit code.',
    appliesTo: (path) =>
      isCode(path) && !endsProcess.includes(path) && !path.startsWith('scripts/'),
    find: forbidText(/\bprocess\.exit\b/g),
    broken: { 'packages/cli/src/commands/serve.ts': 'process.exit(1)' },
    kept: { 'packages/cli/src/end-process.ts': 'process.exit(1)' },
  },
  {
    fact: 'errors are told apart by their codes',
    remedy:
      'Compare the code of the error, or give it one: its words may change. Words of others that come without a code are listed in scripts/tidy/text-rules.ts.',
    appliesTo: (path) => isShipped(path) && !(path in readsWordsOfOthers),
    find: forbidText(
      /\b(?:message|reason|hint|problem|stderr)\??\.(?:match|includes|startsWith|endsWith|search)\(|\/[a-z]*\.(?:test|exec)\([^)\n]*\b(?:message|reason|hint|problem|stderr)\b/g,
    ),
    broken: {
      'packages/sdk/src/a.ts': "if (error.message.includes('no such')) return",
      'packages/cli/src/b.ts': 'if (/^late/.test(error.reason)) return',
    },
    kept: {
      'packages/sdk/src/a.ts': "if (isCairnError(error, 'not_found')) return",
      'packages/sdk/src/a.test.ts': "expect(error.message.includes('no such'))",
    },
  },
  {
    fact: 'every test runs',
    remedy:
      'Fix the test or delete it. A gap the machine dictates is declared by `skipIf`, its reason in the title.',
    appliesTo: isCode,
    find: forbidText(/^[ \t]*((?:it|test|describe)(?:\.\w+)*\.(?:only|skip|todo)\b)/gm),
    broken: {
      'test/a.test.ts': "\n  it.only('adds', add)",
      'test/b.test.ts': "describe.concurrent.skip('sums', sums)",
    },
    kept: {
      'test/a.test.ts': "\n  it.skipIf(!isRoot)('chown changes the owner (needs root)', chown)",
    },
  },
  {
    fact: `no file is longer than ${linesMax} lines`,
    remedy: 'It has begun to hold a second subject: give that a name and a file of its own.',
    appliesTo: isCode,
    find: findTooLong,
    broken: { 'scripts/a.ts': 'a()\n'.repeat(linesMax + 1) },
    kept: { 'scripts/a.ts': 'a()\n'.repeat(linesMax), 'docs/a.md': 'a\n'.repeat(linesMax + 1) },
  },
  {
    fact: 'index.ts is the door of a package and nothing else',
    remedy: 'Name the file after its main export, and import it directly.',
    appliesTo: (path) => /(?:^|\/)index\.tsx?$/.test(path),
    find: ({ path }) =>
      /^packages\/[^/]+\/src\/(?:(?:conformance|testing)\/)?index\.tsx?$/.test(path)
        ? []
        : [{ line: 1, what: 'is no door' }],
    broken: { 'packages/core/src/tree/index.ts': '', 'test/posix/index.ts': '' },
    kept: { 'packages/core/src/index.ts': '', 'packages/core/src/testing/index.ts': '' },
  },
  {
    fact: 'every export is named',
    remedy: 'List the names that others import, so that a reader can search for them.',
    appliesTo: (path) => isCode(path) && packageOf(path) !== undefined,
    find: forbidText(/^export (?:type )?\* from .*$/gm),
    broken: {
      'packages/core/src/index.ts': "export * from './tree/apply.ts'",
      'packages/mount/src/beside.ts': "export type * from './mount-status.ts'",
    },
    kept: {
      'packages/core/src/index.ts':
        "export { apply } from './tree/apply.ts'\nexport * as nameCalls from './calls/names.ts'",
    },
  },
  {
    fact: 'links in documents lead somewhere',
    remedy: 'Correct the path (it is relative to the document), or drop the link.',
    appliesTo: (path) => path.endsWith('.md'),
    find: findDeadLinks,
    broken: {
      'docs/a.md': 'See [b](../b.md#top).',
      'docs/b.md': 'See [a].\n\n[a]: ./a.md',
    },
    kept: {
      'docs/a.md':
        'See [a](a.md#top), [docs](../docs/), [root](..), [web](https://example.org), `[b](b.md)`.\n' +
        '```\n[c](c.md)\n```\n',
    },
  },
  {
    fact: 'a guide starts with a command and ends with what goes wrong',
    remedy: 'A reader of a guide wants to type something first, and looks for help at the end.',
    appliesTo: (path) => /^docs\/guides\/[^/]+\.md$/.test(path),
    find: findUnguiding,
    broken: {
      'docs/guides/a.md': '# A\n\nProse.\n\n## When it goes wrong\n',
      'docs/guides/b.md': '# B\n\n```\nb\n```\n\n## When it goes wrong\n\n## More\n',
    },
    kept: {
      'docs/guides/c.md': '# C\n\n```sh run\nc\n```\n\n## When it goes wrong\n',
      'docs/reference/d.md': '# D\n',
    },
  },
  {
    fact: 'documents about the code name files that exist',
    remedy: 'A file was moved or renamed: correct the name, and read the sentence around it again.',
    appliesTo: (path) => path === 'ARCHITECTURE.md' || /^docs\/internals\/.*\.md$/.test(path),
    find: findAbsentSources,
    broken: {
      'docs/internals/a.md': 'See `mount/src/sync/no-such-file.ts`.',
      'ARCHITECTURE.md': 'It is in `server/src/no-such-folder`.',
    },
    kept: {
      'docs/internals/a.md': '`state.json` and `Branch.append` are not files.',
      'docs/guides/a.md': 'Write `main.ts`.',
    },
  },
  {
    fact: 'no file names the registry that packages come from',
    remedy:
      'Registries differ from machine to machine: name yours in ~/.npmrc, then run npm install again.',
    appliesTo: (path) => /(?:^|\/)(?:package-lock\.json|\.npmrc)$/.test(path),
    find: forbidText(/"resolved": "https?:[^"]*|^[^#;\n]*\bregistry\s*=.*|^[ \t]*\/\/.*/gm),
    broken: {
      'package-lock.json': '"resolved": "https://registry.example/a.tgz"',
      '.npmrc': '@cairn:registry=https://registry.example',
      'packages/core/.npmrc': '//registry.example/:always-auth=true',
    },
    kept: {
      'package-lock.json': '"resolved": "packages/core"',
      '.npmrc': 'omit-lockfile-registry-resolved=true',
    },
  },
]
