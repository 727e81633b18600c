import type { ErrorRow } from './error-row.ts'

/** Branches, layers and checkpoints. */
export const layerErrors = {
  branch_missing: {
    httpStatus: 404,
    errno: 'ENOENT',
    exitCode: 4,
    retry: 'never',
    hint: 'There is no such branch or layer. List them to find the right name.',
  },
  branch_exists: {
    httpStatus: 409,
    errno: 'EEXIST',
    exitCode: 5,
    retry: 'never',
    hint: 'The id is taken. Choose another one.',
  },
  checkpoint_missing: {
    httpStatus: 404,
    errno: 'ENOENT',
    exitCode: 4,
    retry: 'never',
    hint: 'There is no such checkpoint on this branch. List its checkpoints to find the right one.',
  },
  checkpoint_outdated: {
    httpStatus: 409,
    errno: 'EINVAL',
    exitCode: 17,
    retry: 'never',
    hint: 'The layer stands on a newer base than the checkpoint. Choose one made since the rebase or commit.',
  },
  layer_conflict: {
    httpStatus: 409,
    errno: 'EBUSY',
    exitCode: 9,
    retry: 'after-refresh',
    hint: 'Both sides changed the same paths. Resolve each one, then commit again.',
  },
  layer_closed: {
    httpStatus: 409,
    errno: 'EROFS',
    exitCode: 16,
    retry: 'never',
    hint: 'The layer was committed or abandoned. Make another from it with: cairn fs layer fork. Or reopen it, if it was abandoned.',
  },
  nothing_to_undo: {
    httpStatus: 409,
    errno: 'EINVAL',
    exitCode: 17,
    retry: 'never',
    hint: 'The newest entry of the log is not a rollback.',
  },
  reference_ambiguous: {
    httpStatus: 409,
    errno: 'EINVAL',
    exitCode: 17,
    retry: 'never',
    hint: 'Several layers are meant. Give the id of one of them.',
  },
  outside_layer: {
    httpStatus: 403,
    errno: 'EROFS',
    exitCode: 8,
    retry: 'never',
    hint: 'A layer takes writes at its own path only. Write there, or make a layer of a path that holds both.',
  },
  layer_in_use: {
    httpStatus: 409,
    errno: 'EBUSY',
    exitCode: 16,
    retry: 'never',
    hint: 'Layers were made from it. Delete them first, or all together with --cascade.',
  },
  conflict_missing: {
    httpStatus: 404,
    errno: 'ENOENT',
    exitCode: 4,
    retry: 'never',
    hint: 'Nothing is in conflict there. See what is with: cairn fs layer status.',
  },
} as const
layerErrors satisfies Record<string, ErrorRow>
