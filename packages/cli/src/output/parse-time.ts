import { usageError } from '../errors.ts'

/** `2026-11-02`, `2026-11-02T10:00:00Z`. */
export function parseTime(option: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined
  const time = new Date(text)
  if (!Number.isNaN(time.getTime())) return time
  throw usageError(
    `read ${option}`,
    `'${text}' is no time`,
    'Give one such as 2026-11-02T10:00:00Z.',
  )
}
