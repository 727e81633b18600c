const gap = '  '
/** A column that has to give way keeps this much. */
const columnMin = 8

/**
 * Rows with their columns aligned; those named in `right` at their right end. The last one is not padded. With
 * `columns`, what is too wide for a terminal is cut, the widest columns first.
 */
export function formatTable(
  rows: readonly (readonly string[])[],
  right: readonly number[] = [],
  columns: number = Infinity,
): string[] {
  const widths = fitWidths(widthsOf(rows), columns)
  return rows.map((row) =>
    row
      .map((cell, index) => {
        const width = widths[index]!
        const shown = cell.length > width ? `${cell.slice(0, width - 1)}…` : cell
        if (right.includes(index)) return shown.padStart(width)
        return index === row.length - 1 ? shown : shown.padEnd(width)
      })
      .join(gap),
  )
}

function widthsOf(rows: readonly (readonly string[])[]): number[] {
  const widths: number[] = []
  for (const row of rows)
    for (const [index, cell] of row.entries())
      widths[index] = Math.max(widths[index] ?? 0, cell.length)
  return widths
}

function fitWidths(widths: readonly number[], columns: number): number[] {
  const fitted = [...widths]
  const room = columns - gap.length * (fitted.length - 1)
  for (let excess = sum(fitted) - room; excess > 0; excess--) {
    const widest = fitted.indexOf(Math.max(...fitted))
    if (fitted[widest]! <= columnMin) break
    fitted[widest]!--
  }
  return fitted
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}
