/**
 * The globals that browsers, edge runtimes and Node all have. Packages that run anywhere compile against
 * the language and this list alone, so `process` or `document` in them is a type error.
 */
declare class TextEncoder {
  encode(text: string): Uint8Array<ArrayBuffer>
}

declare class TextDecoder {
  constructor(encoding?: 'utf-8', options?: { fatal?: boolean; ignoreBOM?: boolean })
  decode(bytes: Uint8Array): string
}
