import { createHmac, timingSafeEqual } from 'node:crypto'
import { CairnError } from '@cairn/protocol'
import type { MasterKey, MasterKeys } from '../access/master-key.ts'
import type { Clock } from '../ports/clock.ts'

/** In which a server says for which client it asks. In lower case, as Node has the names of headers. */
export const peerHeader = 'cairn-peer'

/** Servers' clocks differ, and a connection takes a while. */
const ageMsMax = 60_000
const form = /^([0-9a-f]{16}) (\d{1,15}) ([\w.:%-]{1,64}) ([\w-]{43})$/

/** What a server relays for its client. */
export interface RelayedRequest {
  /** Where the client is, as that server sees it. */
  readonly address: string
  readonly authorization: string | undefined
}

/**
 * Proves that a request comes from another server: only servers have the master key. Limits by address count the client
 * then. It opens nothing: the client's own key goes with it, and a proof counts for that key alone.
 */
export class PeerProof {
  readonly #master: MasterKeys
  readonly #clock: Pick<Clock, 'nowMs'>

  constructor(master: MasterKeys, clock: Pick<Clock, 'nowMs'>) {
    this.#master = master
    this.#clock = clock
  }

  sign(request: RelayedRequest): string {
    const timeMs = String(this.#clock.nowMs())
    const mac = macOf(this.#master, timeMs, request).toString('base64url')
    return `${this.#master.id} ${timeMs} ${request.address} ${mac}`
  }

  /** The client's address. Rejects with `forbidden`. */
  async read(header: string, authorization: string | undefined): Promise<string> {
    const [, id, timeMs, address, mac] = form.exec(header) ?? []
    if (mac === undefined) throw refused('it cannot be read')
    const key = await this.#master.find(id!)
    if (!key) throw refused('that server has another master key')
    const expected = macOf(key, timeMs!, { address: address!, authorization })
    if (!timingSafeEqual(expected, Buffer.from(mac, 'base64url')))
      throw refused('no server with the master key made it')
    if (Math.abs(this.#clock.nowMs() - Number(timeMs)) > ageMsMax)
      throw refused('it is too old, or the clocks of the servers differ')
    return address!
  }
}

function macOf(key: MasterKey, timeMs: string, { address, authorization }: RelayedRequest): Buffer {
  const said = JSON.stringify([timeMs, address, authorization ?? null])
  return createHmac('sha256', key.derive('peers')).update(said).digest()
}

function refused(reason: string): CairnError {
  return new CairnError('forbidden', { what: `take the header ${peerHeader}`, reason })
}
