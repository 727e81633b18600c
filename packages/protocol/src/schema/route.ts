import type { Of, Schema } from './build.ts'

/** A body that is not JSON, or not one value. */
export interface Media {
  readonly media: string
  /** One of the values in it: a line, or the data of an event. */
  readonly each?: Schema<unknown>
}

/** JSON, another medium, or `null` for no body. */
export type RouteAnswer = Schema<unknown> | Media | null

/** What a route takes and gives. Errors are the same for all: `ApiErrorBody`. */
export interface Route {
  readonly summary: string
  readonly params?: Schema<unknown>
  readonly query?: Schema<unknown>
  /** A body of JSON; another one, or one of several, is for the handler to read. */
  readonly body?: Schema<unknown> | Media | readonly (Schema<unknown> | Media)[]
  /** By status; several where the request decides. */
  readonly answers: Readonly<Record<number, RouteAnswer | readonly RouteAnswer[]>>
}

/** Routes by method and URL: `GET /v1/keys/:key`. */
export type Routes = Readonly<Record<string, Route>>

type JsonOf<A> = A extends null ? void : A extends Media ? never : Of<A>
type Each<A> = A extends readonly (infer One)[] ? One : A

/** What a route answers with, where that is JSON. */
export type AnswerOf<R extends Route> = JsonOf<Each<R['answers'][keyof R['answers']]>>

export function routes<const R extends Routes>(table: R): R {
  return table
}

export function media(type: string, each?: Schema<unknown>): Media {
  return each ? { media: type, each } : { media: type }
}

export function isMedia(answer: object): answer is Media {
  return 'media' in answer
}
