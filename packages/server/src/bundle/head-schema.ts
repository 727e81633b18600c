import { branchStates } from '@cairn/core'
import { hashBytes } from '@cairn/protocol'
import { Ajv } from 'ajv'

/*
 * The lines of a head. A bundle may come from anywhere, and its ids become names of files and keys of rows: nothing is
 * used that this server would not have written itself.
 */

const text = (maxLength: number): object => ({ type: 'string', maxLength })
const matching = (pattern: string): object => ({ type: 'string', pattern })
const integer = (minimum: number): object => ({
  type: 'integer',
  minimum,
  maximum: Number.MAX_SAFE_INTEGER,
})
const exactly = (properties: Record<string, object>, ...optional: string[]): object => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  additionalProperties: false,
})

const name = matching('^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$')
/** A name that is not the only one of its kind has a mark behind a colon. */
const id = matching('^[A-Za-z0-9][A-Za-z0-9._:-]{0,254}$')
const branch = matching('^[A-Za-z0-9_-]{1,80}/[A-Za-z0-9_-]{1,80}$')
const workspace = matching('^[A-Za-z0-9_-]{1,80}$')
/** A character for each byte. */
const hash = matching(`^[\\u0000-\\u00ff]{${hashBytes}}$`)
const moment = matching('^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(?:\\.\\d{1,9})?Z$')
const label = matching('^[^\\u0000-\\u001f]{0,256}$')
const state = { enum: branchStates }
const count = integer(0)
const snapshot = exactly({ root: hash, orphans: hash })
const time = exactly({
  sec: integer(Number.MIN_SAFE_INTEGER),
  nsec: { ...count, maximum: 999_999_999 },
})
const bytes = exactly({ base64: { type: 'string' } })

const front = exactly(
  {
    workspace: exactly({ id: workspace, name, createdAt: moment, nextIno: integer(2) }),
    exportedAt: moment,
    since: matching('^[0-9a-f]{64}$'),
  },
  'since',
)
const next = exactly({ base: snapshot, baseSeq: count, branch, seq: integer(1), after: hash })
const choice = {
  anyOf: [
    exactly({ type: { enum: ['layer', 'target'] } }),
    exactly({ type: { const: 'bytes' }, bytes }),
  ],
}
const branchRecord = exactly(
  {
    id: branch,
    parent: branch,
    base: snapshot,
    firstBase: hash,
    baseSeq: count,
    next: { type: 'array', items: next },
    folded: exactly({ seq: count, hash, epoch: count, state, snapshot }),
    version: count,
  },
  'parent',
  'firstBase',
  'baseSeq',
)
const checkpoint = exactly({ id, branch, label, seq: count, snapshot, time })
const checkpointLabel = exactly({ workspace, branch, id, label, toolCall: label }, 'toolCall')
const layer = exactly(
  {
    workspace,
    id,
    branch,
    name: id,
    parent: id,
    path: matching('^/[\\u0001-\\u00ff]{0,4095}$'),
    tags: {
      type: 'object',
      propertyNames: matching('^[^=]{1,128}$'),
      additionalProperties: label,
    },
    state,
    message: text(4096),
    createdBy: text(256),
    createdAt: moment,
    originRoot: hash,
    originSeq: count,
    closedAt: moment,
    version: count,
  },
  'name',
  'closedAt',
)
const settings = exactly(
  { maxBytes: count, maxFiles: count, autoCheckpointMs: integer(100) },
  'maxBytes',
  'maxFiles',
  'autoCheckpointMs',
)

const ajv = new Ajv({ strict: false })

/** The first line. */
export const isFront: (line: unknown) => boolean = ajv.compile(front)

/** Each line after that one has one of these. */
export const isLine: (line: unknown) => boolean = ajv.compile({
  anyOf: [
    exactly({ branch: branchRecord }),
    exactly({ resolution: exactly({ conflict: text(256), choice }) }),
    exactly({ checkpoint }),
    exactly({ label: checkpointLabel }),
    exactly({ layer }),
    exactly({ settings: exactly({ layer: id, settings }) }),
  ],
})
