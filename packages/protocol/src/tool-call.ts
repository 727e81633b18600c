/** The id of a call that a model made of a tool: visible ASCII, so that it fits into a header and a line of a list. */
export function isToolCall(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]{1,256}$/.test(value)
}
