import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Cairn } from '@cairn/sdk'
import { startServer, stopServer } from './running-server.ts'
import { printTable, type Row } from './table.ts'

const files = Number(process.env['CAIRN_BENCH_FILES'] ?? 50_000)
const root = fileURLToPath(new URL('../..', import.meta.url))

/** Clones and exports of a repository of many small files, beside git on the local disk. */
export async function benchGit(): Promise<void> {
  const place = mkdtempSync(join(tmpdir(), 'cairn-bench-git-'))
  const server = await startServer(join(place, 'data'))
  const seconds = (work: () => void): number => {
    const begin = performance.now()
    work()
    return (performance.now() - begin) / 1000
  }
  const git = (...args: string[]): void => void execFileSync('git', args, { cwd: place })
  try {
    makeRepository(place)
    execFileSync(process.execPath, [join(root, 'packages/cli/scripts/bundle.mjs'), place])
    await new Cairn({ server: server.url, apiKey: server.key }).workspaces.create('w')
    const env = { ...process.env, CAIRN_SERVER: server.url, CAIRN_API_KEY: server.key }
    const words = ['--conditions=source', join(place, 'cairn.mjs'), 'git', 'clone', '--fast']
    const clone = (to: string): void =>
      void execFileSync(process.execPath, [...words, '-w', 'w', join(place, 'origin'), to], { env })
    const fetch = seconds(() =>
      git('clone', '-q', '--no-checkout', `file://${place}/origin`, 'bare'),
    )
    const plain = seconds(() => git('clone', '-q', `file://${place}/origin`, 'plain'))
    const fast = seconds(() => clone(':/repo'))
    const again = seconds(() => clone(':/second'))
    const remote = `${server.url.replace('://', `://me:${server.key}@`)}/git/w`
    const refs = seconds(() => git('ls-remote', remote))
    const rows: Row[] = [
      { work: 'git clone on the disk', figures: [show(plain)] },
      { work: 'git fetch alone', figures: [show(fetch)] },
      {
        work: 'cairn git clone --fast',
        figures: [show(fast)],
        aim: `${show(0.3 * plain)}, ${show(fetch + 0.5)}`,
        met: fast <= 0.3 * plain && fast <= fetch + 0.5,
      },
      { work: 'the same again, content known', figures: [show(again)] },
      {
        work: 'export of both to git',
        figures: [show(refs), `${Math.round((2 * files) / refs)} files/s`],
        aim: '5000 files/s',
        met: (2 * files) / refs >= 5000,
      },
    ]
    printTable(`git: ${files} files`, ['time', 'rate'], rows)
  } finally {
    await stopServer(server)
    rmSync(place, { recursive: true, force: true })
  }
}

function show(seconds: number): string {
  return `${seconds.toFixed(2)} s`
}

function makeRepository(place: string): void {
  const origin = join(place, 'origin')
  execFileSync('git', ['init', '-q', origin])
  for (let directory = 0; directory * 100 < files; directory++) {
    mkdirSync(join(origin, `d${directory}`))
    for (let file = 0; file < 100; file++)
      writeFileSync(join(origin, `d${directory}/f${file}.txt`), `${directory} ${file}\n`.repeat(50))
  }
  execFileSync('git', ['-C', origin, 'add', '-A'])
  const identity = ['-c', 'user.name=n', '-c', 'user.email=n@example.org']
  execFileSync('git', ['-C', origin, ...identity, 'commit', '-q', '-m', 'all'])
}
