import { z } from 'zod'

/** Fields that several tools share, so that a word means the same in each of them. */

type OptionalText = z.ZodOptional<z.ZodString>

const reference = z.string().min(1).max(256)

/** Where a tool works. */
export const place: { workspace: OptionalText; layer: OptionalText } = {
  workspace: reference.optional().describe('Workspace name; leave out for the default one'),
  layer: reference
    .optional()
    .describe(
      'Attempt (layer) to work in: name or id; leave out for the default, "main" for the trunk',
    ),
}

/** Where a tool reads: it may look at the past. */
export const readPlace: typeof place & { at: OptionalText } = {
  ...place,
  at: reference.optional().describe('Checkpoint label or id: read as it was then'),
}

export const path: z.ZodString = z.string().max(4096)
export const filePath: z.ZodString = path
  .min(1)
  .describe('Path of the file from the root of the workspace, such as /src/main.ts')

export const limit = (usual: number, most: number): z.ZodDefault<z.ZodNumber> =>
  z.number().int().min(1).max(most).default(usual)

export const cursor: OptionalText = z
  .string()
  .max(8192)
  .optional()
  .describe('"next" of the call before, to get what follows')

export const next: OptionalText = z
  .string()
  .optional()
  .describe('Give it as cursor to get what follows; absent at the end')

export const change: z.ZodObject<{
  kind: z.ZodString
  path: z.ZodString
  from: z.ZodOptional<z.ZodString>
  added: z.ZodOptional<z.ZodNumber>
  removed: z.ZodOptional<z.ZodNumber>
}> = z.object({
  kind: z.string().describe('added, modified, deleted, renamed, mode or type'),
  path: z.string(),
  from: z.string().optional().describe('Where it was before it was renamed'),
  added: z.number().optional().describe('Lines'),
  removed: z.number().optional(),
})
