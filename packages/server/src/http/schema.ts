/** Pieces of JSON schema that the routes share. They validate requests and become the OpenAPI document. */

export const branchQuery = {
  branch: { type: 'string', minLength: 1, maxLength: 128, description: 'main unless given' },
  layer: { type: 'string', minLength: 1, maxLength: 256, description: 'id, name, tag or label' },
  at: { type: 'string', minLength: 1, maxLength: 256, description: 'a checkpoint, to be read' },
  side: {
    enum: ['base', 'layer', 'target'],
    description: 'of a layer: what it stands on, has, or commits to',
  },
} as const

export function objectSchema(
  properties: Readonly<Record<string, unknown>>,
  required: readonly string[] = [],
): object {
  return { type: 'object', additionalProperties: false, required, properties }
}
