import {
  type AnswerOf,
  isMedia,
  type Media,
  type Of,
  type Route,
  type Routes,
} from '@cairn/protocol/routes'
import type {
  FastifyContextConfig,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifySchema,
} from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What it takes and gives. */
    readonly route?: Route
  }
}

type PartOf<R extends Route, Part extends keyof R> = R[Part] extends Media | readonly unknown[]
  ? unknown
  : Of<R[Part]>

/** A request whose parts have been validated. */
export type RequestOf<R extends Route> = FastifyRequest<{
  Params: PartOf<R, 'params'>
  Querystring: PartOf<R, 'query'>
  Body: PartOf<R, 'body'>
}>

/** What a handler may give: the JSON of the route or, for other media, the reply it has sent. */
type Given<R extends Route> = AnswerOf<R> | FastifyReply

type Add<R extends Routes> = <Key extends keyof R & string>(
  key: Key,
  config: FastifyContextConfig,
  handle: (request: RequestOf<R[Key]>, reply: FastifyReply) => Promise<Given<R[Key]>>,
) => void

/** Gives a function that adds the handlers of a table of routes one by one. */
export function adderOf<R extends Routes>(app: FastifyInstance, table: R): Add<R> {
  return (key, config, handle) => {
    const [method = '', url = ''] = key.split(' ')
    const route = table[key]!
    app.route({
      method,
      url,
      config: { ...config, route },
      schema: schemaOf(route),
      handler: handle as (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>,
    })
  }
}

/** What Fastify validates before the handler runs. */
export function schemaOf({ params, query, body }: Route): FastifySchema {
  const isJson = body && !('length' in body) && !isMedia(body)
  return {
    ...(params ? { params } : {}),
    ...(query ? { querystring: query } : {}),
    ...(isJson ? { body } : {}),
  }
}
