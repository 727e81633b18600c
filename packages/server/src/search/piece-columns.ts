import type { FilePart } from './scan-messages.ts'

/**
 * Pieces as they are sent to a thread: a column for each field. As objects, each of thousands of small files would cost more
 * to send than to search.
 */
export interface PieceColumns {
  readonly buffers: readonly ArrayBufferLike[]
  /** For each piece: which buffer, from where, how many bytes, flags, `afterLine`. */
  readonly numbers: Float64Array
  /** The first place of each. */
  readonly paths: readonly string[]
  readonly layers: readonly (string | undefined)[]
  /** The places of those that have several. */
  readonly further: ReadonlyMap<number, FilePart['places']>
}

const numbersEach = 5
const flags = { isFirst: 1, isLast: 2, isNamed: 4 } as const

export function columnsOf(pieces: readonly FilePart[]): PieceColumns {
  const buffers: ArrayBufferLike[] = []
  const numbers = new Float64Array(pieces.length * numbersEach)
  const paths: string[] = []
  const layers: (string | undefined)[] = []
  const further = new Map<number, FilePart['places']>()
  for (const [at, { places, bytes, afterLine, ...piece }] of pieces.entries()) {
    const { buffer, byteOffset, byteLength } = sendable(bytes)
    if (buffers.at(-1) !== buffer) buffers.push(buffer)
    const flag =
      (piece.isFirst ? flags.isFirst : 0) |
      (piece.isLast ? flags.isLast : 0) |
      (piece.isNamed ? flags.isNamed : 0)
    numbers.set([buffers.length - 1, byteOffset, byteLength, flag, afterLine], at * numbersEach)
    paths.push(places[0]!.path)
    layers.push(places[0]!.layers)
    if (places.length > 1) further.set(at, places)
  }
  return { buffers, numbers, paths, layers, further }
}

/** Sending a view sends its whole buffer, unless that is shared. */
function sendable(bytes: Uint8Array): Uint8Array {
  const isWhole = bytes.byteLength === bytes.buffer.byteLength
  return isWhole || bytes.buffer instanceof SharedArrayBuffer ? bytes : new Uint8Array(bytes)
}

export function piecesOf({
  buffers,
  numbers,
  paths,
  layers,
  further,
}: PieceColumns): readonly FilePart[] {
  return paths.map((path, at) => {
    const [buffer, start, length, flag, afterLine] = numbers.subarray(at * numbersEach)
    const layer = layers[at]
    return {
      places: further.get(at) ?? [layer === undefined ? { path } : { path, layers: layer }],
      bytes: new Uint8Array(buffers[buffer!]!, start, length),
      isFirst: (flag! & flags.isFirst) > 0,
      isLast: (flag! & flags.isLast) > 0,
      isNamed: (flag! & flags.isNamed) > 0,
      afterLine: afterLine!,
    }
  })
}
