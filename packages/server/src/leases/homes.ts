import type { LeaseRecord } from '../ports/lease-store.ts'

interface Asking {
  /** The server that asks, as its own writers name it. */
  readonly server: string
  readonly nowMs: number
  /** A session that looks for its place. Where it was does not matter. */
  readonly except?: string | undefined
}

/**
 * The addresses of servers to which a session that shares directories should rather be connected, best first. Directories
 * are shared at one server, and that is the server of the first writer in the record, its home. All servers see the same record, so
 * they agree. None where the server that asks is the home itself.
 */
export function homesOf(record: LeaseRecord, { server, nowMs, except }: Asking): readonly string[] {
  const homes = new Set<string>()
  for (const { session, expiresAtMs, sharesAt, address } of record.writers) {
    if (session === except || expiresAtMs <= nowMs) continue
    if (sharesAt === server) break
    if (address !== undefined) homes.add(address)
  }
  return [...homes]
}
