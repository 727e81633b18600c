/** One line of a benchmark: what was measured, and what it had to be. */
export interface Row {
  readonly work: string
  readonly figures: readonly string[]
  /** Undefined when nothing is asked of it. */
  readonly met?: boolean
  readonly aim?: string
}

export function printTable(title: string, columns: readonly string[], rows: readonly Row[]): void {
  const header = ['', ...columns, 'aim', '']
  const lines = rows.map(({ work, figures, aim, met }) => [
    work,
    ...figures,
    ...Array.from({ length: columns.length - figures.length }, () => ''),
    aim ?? '',
    met === undefined ? '' : met ? 'met' : 'MISSED',
  ])
  const widths = header.map((_, column) =>
    Math.max(...[header, ...lines].map((line) => line[column]!.length)),
  )
  const format = (line: readonly string[]): string =>
    line
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)))
      .join('  ')
  console.log(`\n${title}\n${[header, ...lines].map(format).join('\n')}`)
}

export function micros(value: number): string {
  return value < 10 ? `${value.toFixed(2)} µs` : `${value.toFixed(1)} µs`
}

export function millis(value: number): string {
  return `${value.toFixed(2)} ms`
}

/** The middle one of several runs: a busy machine makes single ones meaningless. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[sorted.length >> 1]!
}
