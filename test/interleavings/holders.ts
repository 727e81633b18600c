import type { ModelWorld } from './model-world.ts'
import { directoriesIn } from '../simulation/trees/promises.ts'

/** A directory has one holder, and the server knows which. Gives what is wrong. */
export function judgeHolders({ clients, keeper, promises }: ModelWorld): readonly string[] {
  const { record, sharing, holders } = keeper
  return directoriesIn(promises.tree).flatMap((ino) => {
    const those = clients.filter((client) => client.acknowledgesIn(ino, record.epoch))
    const names = those.map(({ who }) => who).join(' and ')
    if (those.length > 1) return [`${ino} is held by ${names}`]
    const isKnown = holders.length < 2 || those[0]?.id === sharing.noted(ino).holder
    return those.length === 0 || isKnown
      ? []
      : [`${names} takes ${ino} for its own, and the server does not`]
  })
}
