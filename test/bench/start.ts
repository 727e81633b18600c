import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Site } from '../mount/fixture.ts'
import { Bundle } from './mount/bundle.ts'
import { median, millis, printTable, type Row } from './table.ts'

const rounds = 31
const executable = fileURLToPath(
  new URL(
    `../../packages/cli/dist/executable/cairn-${process.platform}-${process.arch}`,
    import.meta.url,
  ),
)

interface Start {
  readonly work: string
  readonly command: readonly [file: string, ...args: string[]]
  readonly aimMs?: number
}

/** From the shell, as it is shipped, until the command has ended: beside a Node that does nothing. */
export async function benchStart(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'cairn-bench-'))
  const site = await Site.open()
  try {
    const bundle = Bundle.build(directory, site)
    bundle.run('fs', 'mkdir', ':/repo')
    printTable(
      'start: a command from the shell, until it has ended',
      ['median', 'best', 'worst'],
      measureInTurns(findStarts(directory, bundle), bundle.env),
    )
    if (!existsSync(executable))
      console.log('the single executable: skipped, npm run build:executable makes one')
  } finally {
    await site.close()
    rmSync(directory, { recursive: true })
  }
}

function findStarts(directory: string, { program }: Bundle): Start[] {
  const nothing = join(directory, 'nothing.mjs')
  writeFileSync(nothing, '')
  const node = process.execPath
  const starts: Start[] = [
    { work: 'a bare Node', command: [node, nothing] },
    { work: 'cairn --version', command: [node, program, '--version'], aimMs: 40 },
    { work: 'cairn fs ls', command: [node, program, 'fs', 'ls'] },
    {
      work: 'cairn fs layer create',
      command: [node, program, 'fs', 'layer', 'create', ':/repo'],
      aimMs: 50,
    },
  ]
  if (existsSync(executable))
    starts.push({ work: 'the single executable, --version', command: [executable, '--version'] })
  return starts
}

/** By turns, so that a busy moment of the machine meets all of them. */
function measureInTurns(starts: readonly Start[], env: NodeJS.ProcessEnv): Row[] {
  const times = starts.map((): number[] => [])
  for (let round = 0; round <= rounds; round++)
    for (const [index, { command }] of starts.entries()) {
      const [file, ...args] = command
      const begin = performance.now()
      execFileSync(file, args, { env, stdio: 'pipe' })
      // The first one brings everything into memory.
      if (round > 0) times[index]!.push(performance.now() - begin)
    }
  return starts.map(({ work, aimMs }, index) => {
    const own = times[index]!
    const middle = median(own)
    return {
      work,
      figures: [middle, Math.min(...own), Math.max(...own)].map(millis),
      ...(aimMs !== undefined && { aim: `≤ ${aimMs} ms`, met: middle <= aimMs }),
    }
  })
}
