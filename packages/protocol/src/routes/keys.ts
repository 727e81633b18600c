import { integer, object, type Of, oneOf, optional, named, text } from '../schema/build.ts'
import { items, time } from '../schema/common.ts'
import { routes } from '../schema/route.ts'

/** Names stand in logs and audits as they are, so none looks like the id of a token or a grant. */
const keyName = text({
  pattern: '^[A-Za-z0-9][A-Za-z0-9.@-]{0,63}$',
  wants: '1 to 64 letters, digits, dots, hyphens and @, with a letter or digit first',
  examples: ['alice'],
})
const key = object({ key: text({ maxLength: 64, examples: ['alice'] }) })
const graceMsMax = 30 * 24 * 60 * 60 * 1000

/** An owner key. It is known by its name; rotating it changes its secret. */
export type KeyInfo = Of<typeof KeyInfo>
export const KeyInfo = named(
  'KeyInfo',
  object({
    name: keyName,
    state: oneOf(['live', 'removed']),
    createdAt: time(),
    /** When it got the secret that it has now; absent while that is the first one. */
    rotatedAt: optional(time()),
    /** Until when a secret from before a rotation still works. */
    graceUntil: optional(time()),
    removedAt: optional(time()),
  }),
)

/** The one answer that has the secret. */
export type IssuedKey = Of<typeof IssuedKey>
export const IssuedKey = named(
  'IssuedKey',
  object({ ...KeyInfo.fields, secret: text({ examples: ['cairn_key_…'] }) }),
)

export const keyRoutes = routes({
  'GET /v1/keys': {
    summary: 'List owner keys, also removed ones',
    answers: { 200: items(KeyInfo) },
  },
  'POST /v1/keys': {
    summary: 'Add an owner key; its secret is shown once',
    body: object({ name: keyName }),
    answers: { 201: IssuedKey },
  },
  'POST /v1/keys/:key/rotate': {
    summary: 'Give an owner key another secret; the one before ends now or after graceMs',
    params: key,
    body: object({ graceMs: optional(integer({ maximum: graceMsMax, examples: [3_600_000] })) }),
    answers: { 200: IssuedKey },
  },
  'DELETE /v1/keys/:key': {
    summary: 'Remove an owner key, and end what goes on under it',
    params: key,
    answers: { 200: KeyInfo },
  },
})
