import type { CallOptions } from '../sandbox.ts'

/** Where the mount in a sandbox finds which call a program is part of. */
export function environmentOf({ toolCall }: CallOptions): Readonly<Record<string, string>> {
  return toolCall === undefined ? {} : { CAIRN_TOOL_CALL: toolCall }
}
