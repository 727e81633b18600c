const units = [
  ['year', 365 * 86_400],
  ['month', 30 * 86_400],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const

/** `5 minutes ago`, `in 3 days`, `now`: in the largest unit that is full. */
export function relativeTime(time: string, nowMs: number = Date.now()): string {
  const seconds = Math.trunc((Date.parse(time) - nowMs) / 1000)
  const [unit, size] = units.find(([, each]) => Math.abs(seconds) >= each) ?? ['second', 1]
  const count = Math.trunc(Math.abs(seconds) / size)
  if (count === 0) return 'now'
  const span = `${count} ${unit}${count === 1 ? '' : 's'}`
  return seconds < 0 ? `${span} ago` : `in ${span}`
}

/** UTC, to the second, from ISO 8601. */
export function absoluteTime(time: string): string {
  return time.slice(0, 19).replace('T', ' ')
}
