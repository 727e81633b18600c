import {
  type AccessOperation,
  errnoTable,
  isCairnError,
  isFsError,
  parseRule,
} from '@cairn/protocol'
import { usageError } from '../errors.ts'

/** What a token is to be allowed, as one types it. */
export const grantOptions = {
  allow: {
    kind: 'list',
    value: 'PREFIX:OPS',
    summary: 'What may be done at and below a path: read,list,search,write,delete,commit,admin',
  },
  deny: { kind: 'list', value: 'PREFIX', summary: 'A path that does not exist for it' },
} as const

interface Rule {
  readonly path: string
  readonly operations: readonly AccessOperation[]
}

/** `/repo/src:read,list` */
export function parseAllow(texts: readonly string[]): readonly Rule[] {
  return texts.map((text) => {
    try {
      const { operations } = parseRule(text)
      return { path: text.slice(0, text.lastIndexOf(':')), operations }
    } catch (error) {
      if (!isCairnError(error) && !isFsError(error)) throw error
      const reason = isFsError(error) ? errnoTable[error.code][1] : error.reason
      throw usageError(`allow ${text}`, reason, 'Give --allow /repo/src:read,list,write.')
    }
  })
}
