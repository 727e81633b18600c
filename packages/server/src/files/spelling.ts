import { type ByteString, formatPath, fromByteString, type Name } from '@cairn/protocol'

/** The fields of an answer that stand for a path: see `Spelled`. */
export function spellPath<Field extends string>(
  field: Field,
  names: readonly Name[],
): SpelledAnswer<Field> {
  return spelled(field, formatPath(names), `/${names.join('/')}`)
}

/** The same for a name or a symlink's target. */
export function spellText<Field extends string>(
  field: Field,
  bytes: ByteString,
): SpelledAnswer<Field> {
  return spelled(field, new TextDecoder().decode(fromByteString(bytes)), bytes)
}

type SpelledAnswer<Field extends string> = { readonly [key in Field]: string } & {
  readonly [key in `${Field}Bytes`]?: string
}

function spelled<Field extends string>(
  field: Field,
  text: string,
  bytes: ByteString,
): SpelledAnswer<Field> {
  // Most are ASCII, of which no copy is needed to tell.
  const isText = text === bytes || Buffer.from(text).equals(Buffer.from(bytes, 'latin1'))
  const base64 = isText
    ? {}
    : { [`${field}Bytes`]: Buffer.from(bytes, 'latin1').toString('base64') }
  return { [field]: text, ...base64 } as SpelledAnswer<Field>
}
