// Frameworks that are too large to be installed here: what is given to them has the types that they publish.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { root } from './machine.ts'

const isSoak = process.env['CAIRN_RUNS'] !== undefined

const frameworks = [
  {
    name: 'deepagents',
    version: '1.14.1',
    types: 'dist/index.d.ts',
    program: `
      import type { BackendProtocolV2, SandboxBackendProtocolV2 } from 'deepagents'
      import type { CairnBackend, CairnSandboxBackend } from '@cairn/agents/deepagents'
      export const files = (one: CairnBackend): BackendProtocolV2 => one
      export const machine = (one: CairnSandboxBackend): SandboxBackendProtocolV2 => one`,
  },
  {
    name: '@anthropic-ai/claude-agent-sdk',
    version: '0.3.328',
    types: 'sdk.d.ts',
    program: `
      import type { Options, SessionStore } from '@anthropic-ai/claude-agent-sdk'
      import { cairnHooks, type ClaudeSessionStore, spawnIn } from '@cairn/agents/claude'
      export const hooks: NonNullable<Options['hooks']> = cairnHooks().hooks
      export const store = (one: ClaudeSessionStore): SessionStore => one
      type Spawn = NonNullable<Options['spawnClaudeCodeProcess']>
      export const spawn = (one: ReturnType<typeof spawnIn>): Spawn => one`,
  },
]

const tsc = join(root, 'node_modules/.bin/tsc')

describe.skipIf(!isSoak)('types of frameworks (needs npm run test:soak)', () => {
  let directory = ''
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'cairn-adapter-types-'))
  })
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  /** What the compiler says of a program that uses the framework and an adapter. */
  function compile({ name, version, types, program }: (typeof frameworks)[number]): string {
    const place = join(directory, name.replace('/', '-'))
    mkdirSync(place)
    const packed = execFileSync('npm', ['pack', '--silent', `${name}@${version}`], { cwd: place })
    execFileSync('tar', ['xzf', packed.toString().trim()], { cwd: place })
    writeFileSync(join(place, 'program.mts'), program)
    const compilerOptions = {
      rootDir: '/',
      composite: false,
      noEmit: true,
      types: ['node'],
      typeRoots: [join(root, 'node_modules/@types')],
      isolatedDeclarations: false,
      declarationMap: false,
      paths: {
        [name]: [join(place, 'package', types)],
        '@cairn/agents/deepagents': [join(root, 'packages/agents/src/deepagents/backend.ts')],
        '@cairn/agents/claude': [join(root, 'packages/agents/src/claude/cairn-hooks.ts')],
      },
    }
    const config = {
      extends: join(root, 'tsconfig.base.json'),
      compilerOptions,
      include: ['*.mts'],
    }
    writeFileSync(join(place, 'tsconfig.json'), JSON.stringify(config))
    return spawnSync(tsc, ['-p', '.'], { cwd: place, encoding: 'utf8' }).stdout
  }

  it.each(frameworks)('$name $version', (framework) => {
    expect(compile(framework)).toBe('')
  })

  it('a wrong type is found', () => {
    const [framework] = frameworks
    const program = framework!.program.replace(
      '): BackendProtocolV2',
      '): SandboxBackendProtocolV2',
    )
    rmSync(join(directory, 'deepagents'), { recursive: true, force: true })
    expect(compile({ ...framework!, program })).toMatch(/missing.*execute/s)
  })
})
