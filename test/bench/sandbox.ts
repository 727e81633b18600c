import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { LocalSandbox } from '@cairn/sandbox'
import { Cairn } from '@cairn/sdk'
import { median, millis, printTable, type Row } from './table.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const rounds = 15
const handoffs = 7
const atOnce = 10

interface Site {
  readonly cairn: Cairn
  readonly make: (workspace?: string) => LocalSandbox
}

/** Jails on this machine, with the server in a process of its own and the mount as users get it: bundled. */
export async function benchSandbox(): Promise<void> {
  const data = await mkdtemp(join(tmpdir(), 'cairn-bench-'))
  const bundle = mkdtempSync(join(root, 'node_modules', '.cairn-bench-'))
  execFileSync(process.execPath, [join(root, 'packages/cli/scripts/bundle.mjs'), bundle])
  const server = fork(new URL('./server-child.ts', import.meta.url), [join(data, 'server')], {
    execArgv: ['--conditions=source', '--expose-gc'],
  })
  try {
    const [{ url, ownerKey }] = (await once(server, 'message')) as [
      { url: string; ownerKey: string },
    ]
    const mountDaemon = {
      file: process.execPath,
      args: [join(bundle, 'cairn.mjs'), '__mount', 'daemon'],
    }
    const make = (workspace?: string): LocalSandbox =>
      new LocalSandbox({
        directory: join(data, 'jails'),
        mountDaemon,
        ...(workspace && { workspace: { name: workspace, server: url, token: ownerKey } }),
      })
    const site = { cairn: new Cairn({ server: url, apiKey: ownerKey }), make }
    printTable('sandbox: jails on this machine', ['median', 'worst'], await measure(site))
  } finally {
    server.send('close')
    await once(server, 'exit')
    await rm(data, { recursive: true })
    rmSync(bundle, { recursive: true })
  }
}

async function measure(site: Site): Promise<Row[]> {
  await timeLife(site.make())
  const create = await repeat(rounds, () => timeLife(site.make()))
  const exec = await timeExec(site.make())
  const mounted: number[] = []
  for (let round = 0; round < rounds; round++)
    mounted.push(await timeLife(site.make(await newWorkspace(site, `m${round}`))))
  const together = await timeTogether(site)
  const handoff = await timeHandoffs(site)
  return [
    rowOf('make a sandbox', create, 150),
    rowOf('make one with a workspace', mounted, 400),
    rowOf('exec of true', exec, 15),
    { work: `${atOnce} at once with a workspace each, all of them`, figures: [millis(together)] },
    rowOf('kill A, first byte on B', handoff, 1000),
  ]
}

function rowOf(work: string, times: readonly number[], aim: number): Row {
  const middle = median(times)
  return {
    work,
    figures: [millis(middle), millis(Math.max(...times))],
    aim: `≤ ${aim} ms`,
    met: middle <= aim,
  }
}

async function newWorkspace({ cairn }: Site, name: string): Promise<string> {
  await cairn.workspaces.create(name)
  return name
}

async function repeat(times: number, run: () => Promise<number>): Promise<number[]> {
  const all: number[] = []
  for (let time = 0; time < times; time++) all.push(await run())
  return all
}

/** Until it can be used; its end is not counted. */
async function timeLife(sandbox: LocalSandbox): Promise<number> {
  const start = performance.now()
  await sandbox.init()
  const time = performance.now() - start
  await sandbox.dispose()
  return time
}

async function timeExec(sandbox: LocalSandbox): Promise<number[]> {
  await sandbox.init()
  const times = await repeat(50, async () => {
    const start = performance.now()
    await sandbox.exec('true')
    return performance.now() - start
  })
  await sandbox.dispose()
  return times
}

async function timeTogether(site: Site): Promise<number> {
  const sandboxes: LocalSandbox[] = []
  for (let number = 0; number < atOnce; number++)
    sandboxes.push(site.make(await newWorkspace(site, `together${number}`)))
  const start = performance.now()
  const answers = await Promise.all(
    sandboxes.map((sandbox) => sandbox.exec('echo here > f; cat f')),
  )
  const time = performance.now() - start
  await Promise.all(sandboxes.map((sandbox) => sandbox.dispose()))
  const failed = answers.filter(({ stdout }) => stdout !== 'here\n').length
  if (failed > 0) throw new Error(`${failed} of ${atOnce} sandboxes at once did not answer`)
  return time
}

async function timeHandoffs(site: Site): Promise<number[]> {
  return repeat(handoffs, async () => {
    const name = await newWorkspace(site, `handoff${performance.now()}`.replace('.', '-'))
    const [first, second] = [site.make(name), site.make(name)]
    await first.exec('mkdir analysis; seq 1 5000 > analysis/summary; sync -f analysis/summary')
    const start = performance.now()
    await first.dispose({ drain: false })
    const { stdout } = await second.exec('head -c 1 analysis/summary')
    const time = performance.now() - start
    if (stdout !== '1') throw new Error('the second sandbox does not see what the first one wrote')
    await second.dispose()
    return time
  })
}
