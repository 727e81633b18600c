/** The few words in which databases differ. Everything else is written once, in what they share. */
export interface Dialect {
  readonly types: ColumnTypes
  /** Stands after the closing bracket of CREATE TABLE. */
  readonly tableEnd: string
  /**
   * Ends an INSERT. A row whose `key` is taken replaces those columns of the one that is there; with no columns it
   * changes nothing.
   */
  onTaken(key: readonly string[], columns: readonly string[]): string
  /** Ends an INSERT. A row whose `key` is taken gets NULL in that column of the one that is there, whatever it brought. */
  clearOnTaken(key: readonly string[], column: string): string
  /** Asks for a column of a table: a row if it is there. */
  findColumn(table: string, column: string): string
}

export interface ColumnTypes {
  /** Up to `keyBytesMax` bytes, compared as bytes; may be part of a key. */
  readonly key: string
  /** Whole, up to 2^53 − 1. */
  readonly integer: string
  readonly bytes: string
  /** A primary key that grows by itself. */
  readonly serial: string
}

/** Four of them fit into one index of InnoDB, which takes 3072 bytes. */
export const keyBytesMax = 512
