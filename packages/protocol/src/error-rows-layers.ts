import type { ErrorRow } from './error-row.ts'

/** Branches, layers and checkpoints. */
export const layerErrors = {
  branch_missing: {
    httpStatus: 404,
    errno: 'ENOENT',
    exitCode: 4,
    retry: 'never',
    hint: 'List the layers with: cairn fs layer list.',
  },
  branch_exists: {
    httpStatus: 409,
    errno: 'EEXIST',
    exitCode: 5,
    retry: 'never',
    hint: 'Choose another name.',
  },
  checkpoint_missing: {
    httpStatus: 404,
    errno: 'ENOENT',
    exitCode: 4,
    retry: 'never',
    hint: 'List the checkpoints of a layer with: cairn fs layer checkpoints LAYER.',
  },
  checkpoint_outdated: {
    httpStatus: 409,
    errno: 'EINVAL',
    exitCode: 17,
    retry: 'never',
    hint: 'Choose a checkpoint that was made since the last rebase or commit: cairn fs layer checkpoints LAYER.',
  },
  layer_conflict: {
    httpStatus: 409,
    errno: 'EBUSY',
    exitCode: 9,
    retry: 'after-refresh',
    hint: 'See the conflicts with: cairn fs layer status LAYER; resolve each with: cairn fs layer resolve; then commit again.',
  },
  layer_closed: {
    httpStatus: 409,
    errno: 'EROFS',
    exitCode: 16,
    retry: 'never',
    hint: 'Continue in a new layer from it: cairn fs layer fork. An abandoned layer can also be reopened: cairn fs layer reopen.',
  },
  nothing_to_undo: {
    httpStatus: 409,
    errno: 'EINVAL',
    exitCode: 17,
    retry: 'never',
    hint: 'Only a rollback that nothing has followed can be undone. See the log with: cairn fs log.',
  },
  reference_ambiguous: {
    httpStatus: 409,
    errno: 'EINVAL',
    exitCode: 17,
    retry: 'never',
    hint: 'Give the id of one of them.',
  },
  outside_layer: {
    httpStatus: 403,
    errno: 'EROFS',
    exitCode: 8,
    retry: 'never',
    hint: 'Write below the path of the layer, or create a layer for a path that holds both.',
  },
  layer_in_use: {
    httpStatus: 409,
    errno: 'EBUSY',
    exitCode: 16,
    retry: 'never',
    hint: 'Delete the layers that were made from it first, or all together with --cascade.',
  },
  conflict_missing: {
    httpStatus: 404,
    errno: 'ENOENT',
    exitCode: 4,
    retry: 'never',
    hint: 'See the conflicts with: cairn fs layer status LAYER.',
  },
} as const
layerErrors satisfies Record<string, ErrorRow>
