import { decodeInos, type Ino } from '@cairn/protocol'
import type { KernelNodes } from '../kernel/nodes.ts'
import type { Image } from '../image/image.ts'
import type { Outbox } from '../outbox/outbox.ts'
import type { SessionClient } from '../session/client.ts'

/**
 * The files without a name that the server must keep for this mount: those that the kernel knows. Without OPEN and
 * RELEASE nothing else says whether a program has one open. The kernel forgets a file without a name as soon as none has.
 */
export class Holds {
  readonly #image: Pick<Image, 'nameless'>
  readonly #nodes: Pick<KernelNodes, 'isKnown'>
  readonly #outbox: Pick<Outbox, 'settled'>
  readonly #session: Pick<SessionClient, 'ask'>
  /** They lost their names while too little was known here. */
  #heard: readonly Ino[] = []
  #isInDoubt = false
  /** Changed while they had no name, and the batch that their last change is in. Without them it would be refused. */
  readonly #changed = new Map<Ino, number>()

  constructor(
    image: Pick<Image, 'nameless'>,
    nodes: Pick<KernelNodes, 'isKnown'>,
    outbox: Pick<Outbox, 'settled'>,
    session: Pick<SessionClient, 'ask'>,
  ) {
    this.#image = image
    this.#nodes = nodes
    this.#outbox = outbox
    this.#session = session
  }

  /** A file may have lost its name, and which one is not known here. The kernel may know it: the server is asked soon. */
  doubt(): void {
    this.#isInDoubt = true
  }

  /** A file without a name was changed, in the batch with that number. */
  noteChange(ino: Ino, number: number): void {
    this.#changed.set(ino, number)
  }

  list(): readonly Ino[] {
    if (this.#isInDoubt) void this.#askServer()
    for (const [ino, number] of this.#changed)
      if (number <= this.#outbox.settled) this.#changed.delete(ino)
    const open = [...this.#image.nameless, ...this.#heard].filter((ino) => this.#nodes.isKnown(ino))
    return [...new Set([...open, ...this.#changed.keys()])]
  }

  async #askServer(): Promise<void> {
    this.#isInDoubt = false
    try {
      const nameless = decodeInos(await this.#session.ask({ type: 'nameless' }))
      this.#heard = nameless.filter((ino) => this.#nodes.isKnown(ino))
    } catch {
      this.#isInDoubt = true
    }
  }
}
