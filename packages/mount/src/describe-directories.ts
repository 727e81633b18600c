import type { DirectoryStates } from './mount-status.ts'

/** In words, the counts first. Empty where no other client is known of. */
export function describeDirectories(states: DirectoryStates | undefined): readonly string[] {
  if (!states) return []
  const { rest, held, shared, waiting, named } = states
  if (rest === 'held' && shared + waiting === 0) return ['all held']
  const counts = [
    ...(rest === 'held' ? [] : [`${held} held`]),
    `${shared} shared`,
    ...(waiting === 0 ? [] : [`${waiting} waiting`]),
  ]
  const others = rest === 'held' ? 'all others held' : 'all others shared'
  return [
    `${counts.join(', ')}, ${others}`,
    ...named.map(({ path, state, why }) => `${path}: ${state}; ${why}`),
  ]
}
