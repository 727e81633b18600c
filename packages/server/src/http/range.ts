/** The bytes asked for by a Range header: `end` is exclusive. Several ranges are answered with the whole. */
export function parseRange(
  header: string | undefined,
  size: number,
): { start: number; end: number } | 'unsatisfiable' | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '')
  if (!match || (match[1] === '' && match[2] === '')) return undefined
  const [, from, to] = match
  const start = from === '' ? Math.max(0, size - Number(to)) : Number(from)
  const end = from === '' || to === '' ? size : Math.min(size, Number(to) + 1)
  if (start >= size || end <= start) return 'unsatisfiable'
  return { start, end }
}

/** The first byte named by `Content-Range: bytes A-B/*`; undefined when the header is none. */
export function parseContentRange(
  header: string | undefined,
): { start: number; length: number } | undefined {
  const match = /^bytes (\d+)-(\d+)\/(?:\*|\d+)$/.exec(header ?? '')
  if (!match) return undefined
  const [start, last] = [Number(match[1]), Number(match[2])]
  return last >= start ? { start, length: last - start + 1 } : undefined
}
