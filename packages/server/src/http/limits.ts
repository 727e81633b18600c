import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { CairnError } from '@cairn/protocol'
import type { FastifyInstance } from 'fastify'
import { type PlaceLimits, Places } from '../access/places.ts'
import { addressOf } from './relayed.ts'

/** Refuses a request where its owner, token or address has too many under way. */
export function limitRequests(app: FastifyInstance, limits: PlaceLimits): void {
  const places = new Places(limits, 'requests under way')
  app.addHook('onRequest', async (request, reply) => {
    const { access } = request
    if (!access) return
    const leave = places.take(access, addressOf(request))
    if (typeof leave === 'string') {
      void reply.header('retry-after', '1')
      throw new CairnError('too_many_requests', { what: 'take the request', reason: leave })
    }
    reply.raw.once('close', leave)
  })
}

export interface ConnectionLimits {
  readonly all: number
  readonly address: number
}

/** More than all sessions and requests may be: idle connections of browsers and pools must find room beside them. */
export const ordinaryConnections: ConnectionLimits = { all: 6000, address: 4000 }

/** Closes connections above the limits, before anything is read of them. */
export function limitConnections(server: Server, { all, address }: ConnectionLimits): void {
  const open = new Map<string, number>()
  server.maxConnections = all
  server.on('connection', (socket: Socket) => {
    const from = socket.remoteAddress ?? ''
    const count = (open.get(from) ?? 0) + 1
    open.set(from, count)
    socket.once('close', () => {
      const left = open.get(from)! - 1
      if (left > 0) open.set(from, left)
      else open.delete(from)
    })
    if (count > address) socket.destroy()
  })
}
