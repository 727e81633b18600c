import { allocatedBytesMax, resolveExisting, superuser } from '@cairn/core'
import { type ByteString, CairnError, isFsError } from '@cairn/protocol'
import type { Arriving } from '../files/arriving.ts'
import { atBarrier } from '../workspaces/barrier.ts'
import type { Body } from './body.ts'
import { readTarget, type Target } from './context.ts'

export interface ArrivalOptions {
  /** What Content-Length says. */
  readonly contentLength: string | undefined
  /** What is at this path may be replaced: its bytes are room. */
  readonly path?: ByteString | undefined
  /** Bytes of the same file that came before. */
  readonly before?: () => Promise<number>
}

/**
 * The body, as long as the budget and the quota have room for it. Every byte counts here, zeros too: whether they
 * need storing is known too late. What is written in the end is counted exactly, where the batch is planned.
 */
export async function* arriving(
  target: Target,
  body: Body,
  { contentLength, path, before }: ArrivalOptions,
): AsyncGenerator<Uint8Array> {
  if (!(await isLimited(target))) return yield* body
  const arrival = new Arrival(target, path, (await before?.()) ?? 0)
  try {
    if (contentLength !== undefined) await arrival.take(Number(contentLength))
    for await (const chunk of body) {
      if (contentLength === undefined) await arrival.take(chunk.length)
      yield chunk
    }
  } finally {
    arrival.end()
  }
}

/** The same for content inside of something else: each piece is counted before it is stored. */
export async function countContent<T>(
  target: Target,
  work: (take: (bytes: number) => Promise<void>) => Promise<T>,
): Promise<T> {
  if (!(await isLimited(target))) return work(async () => {})
  const arrival = new Arrival(target, undefined, 0)
  try {
    return await work((bytes) => arrival.take(bytes))
  } finally {
    arrival.end()
  }
}

async function isLimited({ workspace, branch, asker }: Target): Promise<boolean> {
  const isFree = !asker.scope?.budget && !(await workspace.quotas.limitsOf(branch))
  // What was done before gets its answer again, and used its room then.
  return !isFree && !(await workspace.paths.isDone(branch, asker))
}

class Arrival {
  readonly #target: Target
  readonly #path: ByteString | undefined
  readonly #before: number
  #bytes = 0
  #rooms: readonly Room[] | undefined

  constructor(target: Target, path: ByteString | undefined, before: number) {
    this.#target = target
    this.#path = path
    this.#before = before
  }

  async take(bytes: number): Promise<void> {
    this.#rooms ??= await this.#findRooms()
    if (this.#findFull(bytes)) {
      // The holder of the lease may have freed some that is not in the log yet.
      await atBarrier(this.#target.workspace, this.#target.branch, async () => {})
      this.#rooms = await this.#findRooms()
    }
    const full = this.#findFull(bytes)
    if (full)
      throw new CairnError('quota_exceeded', {
        what: 'write',
        reason: `${full.why(this.#before + this.#bytes + bytes)}`,
      })
    this.#count(bytes)
  }

  /** What has arrived is counted where it is written, if it is. */
  end(): void {
    this.#count(-this.#bytes)
  }

  #count(bytes: number): void {
    this.#bytes += bytes
    for (const { counter } of this.#rooms ?? []) this.#arriving.add(counter, bytes)
  }

  /** Others that arrive at the same time take room, too. */
  #findFull(bytes: number): Room | undefined {
    return this.#rooms?.find(
      (room) => this.#before + this.#arriving.of(room.counter) + bytes > room.bytes,
    )
  }

  get #arriving(): Arriving {
    return this.#target.workspace.arriving
  }

  async #findRooms(): Promise<readonly Room[]> {
    const { workspace, branch, asker } = this.#target
    const replaced = await this.#replacedBytes()
    const limits = await workspace.quotas.limitsOf(branch)
    const left = await asker.scope?.budget?.left()
    const rooms: Room[] = []
    if (limits) {
      const used = (await branch.head.usage()).bytes
      rooms.push({
        counter: `branch ${branch.id}`,
        // What makes no tree larger is taken, also where a quota was lowered.
        bytes: Math.max(0, limits.bytes - used) + replaced,
        why: (bytes) =>
          `the tree would hold ${used - replaced + bytes} bytes, and its quota is ${limits.bytes}`,
      })
    }
    if (left) {
      rooms.push({
        counter: `token ${asker.scope!.token}`,
        bytes: left.bytes + replaced,
        why: (bytes) =>
          `it would add ${bytes - replaced} bytes, the token may add ${left.bytes} more`,
      })
    }
    return rooms
  }

  async #replacedBytes(): Promise<number> {
    const path = this.#path
    if (path === undefined) return 0
    return readTarget(this.#target, (view) => {
      try {
        const { ino } = resolveExisting(view, path, { who: superuser, follow: true })
        const content = view.inode(ino)?.content
        return content ? allocatedBytesMax(content) : 0
      } catch (error) {
        if (isFsError(error)) return 0
        throw error
      }
    })
  }
}

interface Room {
  /** In `Arriving`. */
  readonly counter: string
  readonly bytes: number
  /** Why so many do not fit. */
  readonly why: (bytes: number) => string
}
