import type { Quota, Used } from '@cairn/sdk'
import { usageError } from '../errors.ts'
import { formatBytes } from '../output/format.ts'

/** Options of commands that set a quota, or create something with one. */
export const quotaOptions = {
  'max-bytes': { kind: 'text', value: 'SIZE', summary: 'Maximum size: 500MiB, 10GiB, none' },
  'max-files': {
    kind: 'text',
    value: 'N',
    summary: 'Maximum number of files and directories, or none',
  },
} as const

export interface QuotaEdit {
  readonly maxBytes: number | null | undefined
  readonly maxFiles: number | null | undefined
}

/** Null for `none`. */
export function parseQuota(options: {
  readonly 'max-bytes': string | undefined
  readonly 'max-files': string | undefined
}): QuotaEdit {
  return {
    maxBytes: parseBytes('--max-bytes', options['max-bytes']),
    maxFiles: parseFiles(options['max-files']),
  }
}

/** For what is made: without a limit is the same as none. */
export function withoutNone({ maxBytes, maxFiles }: QuotaEdit): {
  readonly maxBytes: number | undefined
  readonly maxFiles: number | undefined
} {
  return { maxBytes: maxBytes ?? undefined, maxFiles: maxFiles ?? undefined }
}

const units = ['', 'k', 'm', 'g', 't', 'p']

/** `10GiB` and `10G` are powers of 1024, `10GB` of 1000. */
export function parseBytes(option: string, text: string | undefined): number | null | undefined {
  if (text === undefined || text === 'none') return text === undefined ? undefined : null
  const [, count, unit = '', end = ''] = /^(\d+(?:\.\d+)?)([kmgtp]?)(i?b)?$/i.exec(text) ?? []
  const step = end.toLowerCase() === 'b' ? 1000 : 1024
  const bytes = Math.floor(Number(count) * step ** units.indexOf(unit.toLowerCase()))
  if (Number.isSafeInteger(bytes)) return bytes
  throw usageError(`take ${option} ${text}`, 'it is no size', 'Give 500MiB, 10GiB or none.')
}

function parseFiles(text: string | undefined): number | null | undefined {
  if (text === undefined || text === 'none') return text === undefined ? undefined : null
  const files = /^\d+$/.test(text) ? Number(text) : NaN
  if (Number.isSafeInteger(files)) return files
  throw usageError(`take --max-files ${text}`, 'it is no number', 'Give 100000 or none.')
}

/** `12M of 10G, 340 of 100000 files` */
export function formatQuota(quota: Quota | undefined, used: Used | undefined): string {
  const bytes = part(used?.bytes, quota?.maxBytes, formatBytes)
  const files = part(used?.files, quota?.maxFiles, String)
  return `${bytes} bytes, ${files} files`
}

function part(
  used: number | undefined,
  most: number | undefined,
  format: (count: number) => string,
): string {
  const sign = used !== undefined && used < 0 ? '-' : ''
  const shown = used === undefined ? undefined : sign + format(Math.abs(used))
  if (most === undefined) return shown ?? 'any number of'
  return shown === undefined ? `at most ${format(most)}` : `${shown} of ${format(most)}`
}
