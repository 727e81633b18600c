/** Of commands that make a layer. */
export const newLayerOptions = {
  name: { kind: 'text', value: 'NAME', summary: 'What to call it' },
  id: { kind: 'text', value: 'ID', summary: 'Its id; a new one unless given' },
  tag: { kind: 'list', value: 'K=V', summary: 'A tag, to find it by' },
  message: { kind: 'text', short: 'm', value: 'TEXT', summary: 'What it is for' },
  at: { kind: 'text', value: 'CHECKPOINT', summary: 'Start from this point of the parent' },
} as const

/** Of commands that bring two sides together. */
export const mergeOptions = {
  message: { kind: 'text', short: 'm', value: 'TEXT', summary: 'What it is about' },
  merge: { kind: 'flag', summary: 'Merge text that both sides edited, line by line' },
} as const
