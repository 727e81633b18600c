import type { FastifyInstance } from 'fastify'
import type { ObserveCollecting } from './jobs/collector.ts'
import type { ObserveWork } from './workspaces/open-workspace.ts'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'

const secondsBuckets = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5]

/** What the server counts. Names carry their unit, as Prometheus wants it. */
export class Metrics {
  readonly #registry = new Registry()
  readonly #relayed: Gauge
  readonly #sessions: Gauge<'mode'>
  #watchesProcess = false
  readonly requests: Histogram<'method' | 'route' | 'status'>
  /** Counts batches, operations, folds, sessions, recalls and late sessions. */
  readonly work: ObserveWork
  readonly stores: Histogram<'store' | 'operation' | 'outcome'>
  /** Tells how far the garbage collector has come. */
  readonly collecting: ObserveCollecting

  constructor() {
    const registers = [this.#registry]
    this.requests = new Histogram({
      name: 'cairn_http_request_seconds',
      help: 'How long requests took.',
      labelNames: ['method', 'route', 'status'],
      buckets: secondsBuckets,
      registers,
    })
    this.#sessions = new Gauge({
      name: 'cairn_sessions',
      help: 'Sessions that are open at this server.',
      labelNames: ['mode'],
      registers,
    })
    this.work = countWork(registers, this.#sessions)
    this.#relayed = new Gauge({
      name: 'cairn_relayed_sessions',
      help: 'Open sessions that this server relays to the server where the other writers of their branch are.',
      registers,
    })
    this.collecting = countCollecting(registers)
    this.stores = new Histogram({
      name: 'cairn_store_seconds',
      help: 'How long stores took to answer.',
      labelNames: ['store', 'operation', 'outcome'],
      buckets: secondsBuckets,
      registers,
    })
  }

  /**
   * Metrics of the process itself start with the first call: watching it costs a hundred wake-ups a
   * second.
   */
  async tell(): Promise<{ readonly type: string; readonly text: string }> {
    if (!this.#watchesProcess) collectDefaultMetrics({ register: this.#registry })
    this.#watchesProcess = true
    return { type: this.#registry.contentType, text: await this.#registry.metrics() }
  }

  /** This server relays one more session to another one, or one less. */
  readonly relayed = (change: 1 | -1): void => this.#relayed.inc(change)

  async sessions(): Promise<{ readonly open: number; readonly relayed: number }> {
    const [open, relayed] = await Promise.all([this.#sessions, this.#relayed].map(sumOf))
    return { open: open!, relayed: relayed! }
  }

  watchRequests(app: FastifyInstance): void {
    app.addHook('onResponse', async (request, reply) => {
      const route = request.routeOptions.url ?? 'none'
      this.requests.observe(
        { method: request.method, route, status: reply.statusCode },
        reply.elapsedTime / 1000,
      )
    })
  }
}

async function sumOf(gauge: Gauge<string>): Promise<number> {
  return (await gauge.get()).values.reduce((sum, { value }) => sum + value, 0)
}

function countWork(registers: Registry[], sessions: Gauge<'mode'>): ObserveWork {
  const batches = new Counter({
    name: 'cairn_batches_total',
    help: 'Batches taken into logs.',
    registers,
  })
  const operations = new Counter({
    name: 'cairn_operations_total',
    help: 'Operations in them.',
    registers,
  })
  const folds = new Histogram({
    name: 'cairn_fold_seconds',
    help: 'How long folding a head took.',
    buckets: secondsBuckets,
    registers,
  })
  const recalls = new Counter({
    name: 'cairn_lease_recalls_total',
    help: 'Leases that this server asked their holders to hand back.',
    registers,
  })
  const lateSessions = new Counter({
    name: 'cairn_late_sessions_total',
    help: 'Changes that were answered although some read-write mount had not applied them after 5 seconds.',
    registers,
  })
  return {
    batch: (count) => {
      batches.inc()
      operations.inc(count)
    },
    fold: (seconds) => folds.observe(seconds),
    session: (mode, change) => sessions.inc({ mode }, change),
    recall: () => recalls.inc(),
    lateSession: () => lateSessions.inc(),
  }
}

function countCollecting(registers: Registry[]): ObserveCollecting {
  const marked = new Gauge({
    name: 'cairn_gc_marked',
    help: 'Nodes and blobs that the present or last run found needed so far.',
    registers,
  })
  const removed = new Counter({
    name: 'cairn_gc_removed_total',
    help: 'Nodes and blobs that were taken away.',
    labelNames: ['kind'],
    registers,
  })
  const removedBytes = new Counter({
    name: 'cairn_gc_removed_bytes_total',
    help: 'Their bytes, as they were stored.',
    labelNames: ['kind'],
    registers,
  })
  const runs = new Counter({
    name: 'cairn_gc_runs_total',
    help: 'Runs of the garbage collector.',
    labelNames: ['outcome'],
    registers,
  })
  const seconds = new Gauge({
    name: 'cairn_gc_last_run_seconds',
    help: 'How long the last run took.',
    registers,
  })
  return {
    marked: (count) => marked.set(count),
    removed: (kind, count, bytes) => {
      removed.inc({ kind }, count)
      removedBytes.inc({ kind }, bytes)
    },
    ran: (outcome, took) => {
      runs.inc({ outcome })
      seconds.set(took)
    },
  }
}
