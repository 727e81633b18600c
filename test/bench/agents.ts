import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Cairn, type Workspace } from '@cairn/sdk'
import { type Running, startServer, stopServer } from './running-server.ts'
import { median, millis, printTable, type Row } from './table.ts'

const run = promisify(execFile)
const files = Number(process.env['CAIRN_BENCH_FILES'] ?? 10_000)
const agents = Number(process.env['CAIRN_BENCH_AGENTS'] ?? 50)
const rounds = 15
const perBatch = 500
const page = 'const line = 1\n'.repeat(273)

/** What agents wait for: calls of tools, commands in layers, checkpoints, and each other. */
export async function benchAgents(): Promise<void> {
  const place = mkdtempSync(join(tmpdir(), 'cairn-bench-agents-'))
  const server = await startServer(join(place, 'data'))
  try {
    const cairn = new Cairn({ server: server.url, apiKey: server.key })
    await cairn.workspaces.create('w')
    const workspace = cairn.workspace('w')
    await workspace.files.write('/page.ts', page)
    const empty = await checkpoints(workspace)
    await seed(workspace)
    const rows = [
      ...(await calls(server, workspace)),
      checkpointRow(empty, await checkpoints(workspace)),
      ...(await execRows(server, place)),
      await crowdRow(server, workspace),
    ]
    printTable(`agents: ${files} files`, ['cairn', 'beside it', 'ratio'], rows)
  } finally {
    await stopServer(server)
    rmSync(place, { recursive: true, force: true })
  }
}

async function seed(workspace: Workspace): Promise<void> {
  for (let at = 0; at < files; at += perBatch)
    await workspace.batch(
      Array.from({ length: Math.min(perBatch, files - at) }, (_, index) => ({
        op: 'write',
        path: `/tree/d${Math.floor((at + index) / 100)}/f${at + index}.ts`,
        text: `export const value${at + index} = ${at + index}\n${page.slice(0, 500)}`,
        parents: true,
      })),
    )
}

interface Call {
  readonly work: string
  readonly tool: string
  readonly input: (round: number) => Readonly<Record<string, unknown>>
  /** The same work without MCP. */
  readonly sdk: (workspace: Workspace, round: number) => Promise<unknown>
}

const measured: readonly Call[] = [
  {
    work: 'read 4 KiB',
    tool: 'read',
    input: () => ({ file_path: '/page.ts' }),
    sdk: async ({ files }) => [await files.stat('/page.ts'), await files.readText('/page.ts')],
  },
  {
    work: 'edit',
    tool: 'edit',
    input: (round) => ({
      file_path: '/edited.ts',
      old_string: `round ${round}`,
      new_string: `round ${round + 1}`,
    }),
    sdk: async ({ files }, round) => {
      const { etag } = await files.stat('/edited-by-sdk.ts')
      const text = await files.readText('/edited-by-sdk.ts')
      const next = text.replace(`round ${round}`, `round ${round + 1}`)
      return files.write('/edited-by-sdk.ts', next, { ifMatch: etag })
    },
  },
  {
    work: `grep in ${files} files`,
    tool: 'grep',
    input: (round) => ({ pattern: `value${round * 7}\\b`, path: '/tree' }),
    sdk: async (workspace, round) => {
      const found = workspace.grep(`value${round * 7}\\b`, { path: '/tree', wants: 'files' })
      for await (const event of found) if (event.type === 'summary') return event
    },
  },
]

async function calls(server: Running, workspace: Workspace): Promise<Row[]> {
  for (const path of ['/edited.ts', '/edited-by-sdk.ts'])
    await workspace.files.write(path, `round 0\n${page}`)
  const callTool = connect(server)
  const rows: Row[] = []
  for (const { work, tool, input, sdk } of measured) {
    const [ours, theirs]: [number[], number[]] = [[], []]
    for (let round = 0; round <= rounds; round++) {
      const mcp = await timed(() => callTool(tool, input(round)))
      const plain = await timed(() => sdk(workspace, round))
      // The first one warms.
      if (round > 0) ours.push(mcp)
      if (round > 0) theirs.push(plain)
    }
    const ratio = median(ours) / median(theirs)
    const figures = [millis(median(ours)), millis(median(theirs)), `${ratio.toFixed(2)} ×`]
    rows.push({ work: `${work}, MCP beside SDK`, figures, aim: '≤ 3 ×', met: ratio <= 3 })
  }
  return rows
}

/**
 * Calls a tool over MCP. By hand: benchmarks run with the condition `source`, and a package that the official client needs has
 * sources under the same condition, which Node does not run from node_modules.
 */
type CallTool = (name: string, input: object) => Promise<void>

function connect({ url, key }: Running, layer?: string): CallTool {
  const place = `${url}/mcp?workspace=w${layer === undefined ? '' : `&layer=${layer}`}`
  let id = 0
  return async (name, input) => {
    const params = { name, arguments: input }
    const answer = await fetch(place, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        'mcp-protocol-version': '2025-11-25',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: ++id, method: 'tools/call', params }),
    })
    const text = await answer.text()
    const message = /^(?:event:.*\n)?(?:id:.*\n)?data: (.*)$/m.exec(text)?.[1] ?? text
    const { result } = JSON.parse(message) as { result?: { isError?: boolean } }
    if (result === undefined || result.isError === true) throw new Error(`${name}: ${text}`)
  }
}

/** Each after a change, as before a tool call. */
async function checkpoints(workspace: Workspace): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    await workspace.files.write('/changed', `${round}`)
    times.push(
      await timed(() => workspace.layers.checkpoint('main', { toolCall: `call-${round}` })),
    )
  }
  return median(times)
}

function checkpointRow(empty: number, full: number): Row {
  return {
    work: `checkpoint of ${files} files beside one of 1`,
    figures: [millis(full), millis(empty), `${(full / empty).toFixed(2)} ×`],
    aim: '≤ 10 ms',
    met: full <= 10,
  }
}

/** From its start to its end, with Node's own start beside it. The layer has all files. */
async function execRows({ url, key }: Running, home: string): Promise<Row[]> {
  const program = new URL('../../packages/cli/src/main.ts', import.meta.url).pathname
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    CAIRN_SERVER: url,
    CAIRN_API_KEY: key,
    CAIRN_WORKSPACE: 'w',
    NODE_COMPILE_CACHE: join(home, 'compiled'),
  }
  const node = ['--conditions=source', '--disable-warning=ExperimentalWarning', program]
  const exec = ['exec', '--new-layer', '--path', '/tree', '--discard']
  const timesOf = async (words: readonly string[]): Promise<number> => {
    const times: number[] = []
    for (let round = 0; round <= 5; round++) {
      const time = await timed(() => run(process.execPath, [...node, ...words], { env }))
      // The first one compiles.
      if (round > 0) times.push(time)
    }
    return median(times)
  }
  const start = await timesOf(['--version'])
  const row = (way: string, time: number, most: number): Row => ({
    work: `exec --new-layer ${way}-- true, beside --version`,
    figures: [millis(time), millis(start), `${(time / start).toFixed(2)} ×`],
    aim: `≤ ${most} ms`,
    met: time <= most,
  })
  return [
    row('', await timesOf([...exec, '--', 'true']), 400),
    row('--copy ', await timesOf([...exec, '--copy', '--', 'true']), 700),
  ]
}

/** Each agent reads, writes, lists and makes checkpoints in an attempt of its own, one call after the other. */
async function crowdRow(server: Running, workspace: Workspace): Promise<Row> {
  const clients = await Promise.all(
    Array.from({ length: agents }, async (_, index) => {
      const name = `agent-${index}`
      await workspace.layers.create('/', { name })
      return connect(server, name)
    }),
  )
  const times: number[] = []
  await Promise.all(
    clients.map(async (callTool, index) => {
      const call = async (name: string, input: object): Promise<void> => {
        times.push(await timed(() => callTool(name, input)))
      }
      for (let round = 0; round < 5; round++) {
        await call('read', { file_path: '/page.ts' })
        await call('write', { file_path: `/made-${index}`, content: `round ${round}\n` })
        await call('ls', { path: '/tree/d0' })
        await call('checkpoint', { label: `round-${round}` })
      }
    }),
  )
  times.sort((a, b) => a - b)
  const [middle, late] = [median(times), times[Math.floor(times.length * 0.99)]!]
  return {
    work: `a call among ${agents} agents: p99 beside median`,
    figures: [millis(late), millis(middle), `${(late / middle).toFixed(2)} ×`],
    aim: 'p99 ≤ 250 ms',
    met: late <= 250,
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now()
  await work()
  return performance.now() - begin
}
