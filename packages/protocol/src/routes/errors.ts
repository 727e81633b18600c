import { errorTable } from '../error-table.ts'
import { list, named, object, type Of, oneOf, optional, text } from '../schema/build.ts'
import { LayerConflict, RefusedMerge } from './layer-shapes.ts'

/** Every answer with a status of 400 or above, but 416 for a range. */
export type ApiErrorBody = Of<typeof ApiErrorBody>
export const ApiErrorBody = named(
  'Error',
  object({
    error: object({
      code: oneOf<string>(Object.keys(errorTable), { examples: ['file_system'] }),
      /** `cannot <what>: <reason>. <hint>` */
      message: text({
        examples: ['cannot read /a.txt: no such file or directory. Check the path.'],
      }),
      /** What was attempted. */
      what: text({ examples: ['read /a.txt'] }),
      /** Why it failed. */
      reason: text({ examples: ['no such file or directory'] }),
      /** What to do next. */
      hint: text({ examples: ['Check the path.'] }),
      /** `ENOENT` and the like, where a file system refused. */
      errno: optional(text({ examples: ['ENOENT'] })),
      retry: oneOf(['never', 'same-request', 'after-refresh']),
      subject: optional(text({ examples: ['/a.txt'] })),
      /** Set with `layer_conflict`. */
      conflicts: optional(list(LayerConflict)),
      /** Set with `layer_conflict`, too. */
      refused: optional(RefusedMerge),
      /** Set with `reference_ambiguous`: the ids that may have been meant. */
      candidates: optional(list(text())),
      requestId: text({ examples: ['7c9e6679-7425-40de-944b-e07fc1f90ae7'] }),
    }),
  }),
)
