export const dataFormats = ['csv', 'json', 'parquet'] as const
export type DataFormat = (typeof dataFormats)[number]

/** A file that a statement reads as a table. */
export interface DataFileName {
  readonly format: DataFormat
  readonly path: string
}

export interface SizedDataFile extends DataFileName {
  readonly size: number
}

export interface DataFile extends DataFileName {
  readonly bytes: Uint8Array
}

/** As a statement has it: `read_csv('/a.csv')`. */
export function spellDataFile({ format, path }: DataFileName): string {
  return `read_${format}('${path.replaceAll("'", "''")}')`
}
