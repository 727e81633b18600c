export const layerStates = ['open', 'conflicted', 'committed', 'abandoned'] as const
/** `conflicted` is open, too: a state to work in. */
export type LayerState = (typeof layerStates)[number]

export const conflictSides = ['base', 'layer', 'target'] as const
export type ConflictSideName = (typeof conflictSides)[number]
