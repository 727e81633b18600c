import {
  type ByteString,
  type Grant,
  isInScope,
  type LogEntry,
  type LogOperation,
} from '@cairn/protocol'

/** What of an entry of the log a token sees; undefined for nothing. What is about no path is about hidden ones, too. */
export function visibleEntry(grant: Grant, entry: LogEntry): LogEntry | undefined {
  const operations = entry.operations.flatMap((operation) => visibleOperation(grant, operation))
  return operations.length === 0 ? undefined : { ...entry, operations }
}

/** The visible side of a move over the border. */
function visibleOperation(grant: Grant, operation: LogOperation): LogOperation[] {
  const { op, path, pathBytes, to, toBytes } = operation
  const sees = (text: string | undefined, base64: string | undefined): boolean =>
    text !== undefined && isInScope(grant, bytesOf(text, base64))
  const [from, onto] = [sees(path, pathBytes), sees(to, toBytes)]
  if (from && (onto || to === undefined)) return [operation]
  if (from) return [{ op, path: path!, ...(pathBytes === undefined ? {} : { pathBytes }) }]
  if (onto) return [{ op, path: to!, ...(toBytes === undefined ? {} : { pathBytes: toBytes }) }]
  return []
}

function bytesOf(text: string, base64: string | undefined): ByteString {
  return Buffer.from(base64 ?? text, base64 === undefined ? 'utf8' : 'base64').toString('latin1')
}
