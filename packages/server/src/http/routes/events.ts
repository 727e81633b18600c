import type { ServerResponse } from 'node:http'
import { type Batch, type Branch, decodeInSteps } from '@cairn/core'
import { type ByteString, CairnError, type ChangeEvent, type LogEntry } from '@cairn/protocol'
import { logRoutes } from '@cairn/protocol/routes'
import type { FastifyInstance } from 'fastify'
import { readPointInSteps } from '../../points/read-point.ts'
import type { Scope } from '../../access/access.ts'
import type { AccessWatch } from '../../access/access-watch.ts'
import { visibleEntry } from '../../access/visible-log.ts'
import { overlapSight } from '../../merging/visible-overlaps.ts'
import { Radar } from '../../merging/radar.ts'
import { placeOf, type PointQuery } from '../../points/references.ts'
import { concerning, describeBatch } from '../../history/describe.ts'
import type { OpenWorkspace } from '../../workspaces/open-workspace.ts'
import type { WorkspaceKeeper } from '../../workspaces/workspace-keeper.ts'
import { adderOf } from '../add-routes.ts'
import { openTarget } from '../context.ts'
import { Bell, send } from '../event-stream.ts'
import { isOn } from '../flag.ts'
import { pathOfQuery } from '../path-query.ts'

const keepAliveMs = 15_000
const rowsAtOnce = 500
/** Soon enough to stop an attempt that works on the same lines, seldom enough to cost little. */
const radarMs = 1000

export function eventRoutes(
  app: FastifyInstance,
  workspaces: WorkspaceKeeper,
  watch: AccessWatch | undefined,
): void {
  adderOf(app, logRoutes)(
    'GET /v1/workspaces/:workspace/events',
    { access: ['read', 'list'], watchesAccess: true },
    async (request, reply) => {
      const { workspace, branch, asker } = await openTarget(workspaces, request)
      const { scope } = asker
      requirePresent(request.query)
      const path = pathOfQuery(request.query) ?? '/'
      const radar = isOn(request.query.radar)
        ? await openRadar(workspace, branch, scope)
        : undefined
      const after = lastSeen(request.headers['last-event-id']) ?? request.query.after
      void reply.hijack()
      const { raw } = reply
      raw.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
      const closed = new AbortController()
      raw.on('close', () => closed.abort())
      if (request.access && watch)
        closed.signal.addEventListener(
          'abort',
          watch.add(request.access, () => closed.abort()),
        )
      // An id before any event: a client that is cut off early knows where to continue.
      raw.write(`id: ${after ?? branch.head.position.seq}\n: following\n\n`)
      const keepAlive = setInterval(() => raw.write(': still here\n\n'), keepAliveMs)
      if (radar) void sendRadar(workspace, radar, raw, closed)
      try {
        for await (const event of follow(workspace, branch, { path, after, scope }, closed.signal))
          await send(
            raw,
            `id: ${event.seq}\nevent: change\ndata: ${JSON.stringify(event)}\n\n`,
            closed,
          )
      } finally {
        clearInterval(keepAlive)
        raw.end()
      }
      return reply
    },
  )
}

function requirePresent({ at, side }: PointQuery): void {
  if (at === undefined && side === undefined) return
  throw new CairnError('invalid_argument', {
    what: 'follow a checkpoint or a side of a conflict',
    reason: 'nothing happens there; leave out at and side',
  })
}

/** Opens the radar of an open layer: other layers have no one to warn. */
async function openRadar(
  workspace: OpenWorkspace,
  { id }: Branch,
  scope: Scope | undefined,
): Promise<Radar> {
  const record = await workspace.layers.findByBranch(id)
  const sight = scope && overlapSight(scope.grant)
  if (record) return new Radar(workspace, { ...(await placeOf(workspace, record)), record }, sight)
  throw new CairnError('invalid_argument', {
    what: 'warn of overlaps',
    reason: 'only a layer has a parent and siblings',
  })
}

/** As long as the reader stays. A store that does not answer now is asked again. */
async function sendRadar(
  { clock }: Pick<OpenWorkspace, 'clock'>,
  radar: Radar,
  to: ServerResponse,
  closed: AbortController,
): Promise<void> {
  while (!closed.signal.aborted) {
    const event = await radar.look().catch(() => undefined)
    if (event) await send(to, `event: radar\ndata: ${JSON.stringify(event)}\n\n`, closed)
    await clock.sleep(radarMs)
  }
}

interface Following {
  readonly path: ByteString
  readonly after: number | undefined
  readonly scope: Scope | undefined
}

/** Every batch after `after` (now, unless given) that concerns the path, from the log and then as they come. */
async function* follow(
  workspace: OpenWorkspace,
  branch: Branch,
  { path, after, scope }: Following,
  signal: AbortSignal,
): AsyncGenerator<ChangeEvent> {
  const isWanted = concerning(path, 'below')
  let seq = after ?? branch.head.position.seq
  const bell = new Bell(signal)
  const unsubscribe = branch.subscribe(() => bell.ring())
  const unfollow = workspace.lease(branch).follow()
  try {
    while (!signal.aborted) {
      const rows = await workspace.stores.log.read(branch.id, seq, rowsAtOnce)
      for (const row of rows) {
        seq = row.seq
        const batch = await workspace.stores.nodes.run(decodeInSteps(row.bytes))
        const whole = await describe(workspace, branch, batch)
        const event = scope ? visibleEntry(scope.grant, whole) : whole
        if (event?.operations.some(isWanted)) yield event
      }
      if (rows.length === 0) await bell.wait(() => branch.head.position.seq > seq)
    }
  } finally {
    unfollow()
    unsubscribe()
  }
}

function describe(workspace: OpenWorkspace, branch: Branch, batch: Batch): Promise<LogEntry> {
  return readPointInSteps(workspace, { branch }, (view) => describeBatch(view, batch))
}

function lastSeen(header: string | string[] | undefined): number | undefined {
  if (header === undefined) return undefined
  const seq = Number(header)
  if (/^\d+$/.test(String(header)) && Number.isSafeInteger(seq)) return seq
  throw new CairnError('invalid_argument', {
    what: `go on after Last-Event-ID '${String(header)}'`,
    reason: 'want a sequence number',
  })
}
