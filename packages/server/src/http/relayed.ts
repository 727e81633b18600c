import type { FastifyInstance, FastifyRequest } from 'fastify'
import { peerHeader } from '../peers/peer-proof.ts'
import type { Peers } from '../peers/peers.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Where the client is whose request another server relays. */
    relayedFor: string | undefined
  }
}

/** Before it is asked who the client is. Without peers the header says nothing. */
export function takeRelayed(app: FastifyInstance, peers: Peers | undefined): void {
  app.decorateRequest('relayedFor', undefined)
  if (!peers) return
  app.addHook('onRequest', async (request) => {
    const { [peerHeader]: proof, authorization } = request.headers
    if (proof !== undefined)
      request.relayedFor = await peers.proof.read(String(proof), authorization)
  })
}

/** Where the client is, for limits. */
export function addressOf({ relayedFor, ip }: FastifyRequest): string {
  return relayedFor ?? ip
}
