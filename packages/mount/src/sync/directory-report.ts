import { joinNames, pathOf, type View } from '@cairn/core'
import { type Ino, isFsError } from '@cairn/protocol'
import { ImageMiss } from '../image/miss.ts'
import type { DirectoryState, DirectoryStates } from '../mount-status.ts'
import type { SharingClient } from './sharing.ts'

/** So many are named; the others are counted. */
const namedMax = 20

const whys = {
  claim: 'a change here waits until other clients have given it back and forgotten it',
  look: 'it is shown when its holder has sent what it acknowledged there',
  asked: 'another client looked into it, or changed it',
  contested: 'another client works there, too, so the server decides',
  held: 'changes are acknowledged here',
} as const

/** Which directories a mount may change on its own, and why not the others. */
export function reportDirectories(view: View, sharing: SharingClient): DirectoryStates {
  const { mine, asking, givenBack } = sharing
  const held = mine.hasRest ? [] : [...mine.listed]
  const waiting = [...asking].flatMap(({ type, inos }) =>
    inos.map((ino) => ({ ino, state: 'waiting', why: whys[type] }) as const),
  )
  const shared = [...givenBack].map(
    ([ino, why]) => ({ ino, state: 'shared', why: whys[why] }) as const,
  )
  const own = held.map((ino) => ({ ino, state: 'held', why: whys.held }) as const)
  const named = [...waiting, ...shared.toReversed(), ...own.toReversed()].slice(0, namedMax)
  return {
    rest: mine.hasRest ? 'held' : 'shared',
    held: held.length,
    shared: mine.hasRest ? mine.listed.size : givenBack.size,
    waiting: waiting.length,
    named: named.map(({ ino, ...state }) => ({ path: nameOf(view, ino), ...state })),
  }
}

/** By its number where the mount does not know its name. */
function nameOf(view: View, ino: Ino): DirectoryState['path'] {
  try {
    const names = pathOf(view, ino)
    if (names) return Buffer.from(joinNames(names), 'latin1').toString()
  } catch (error) {
    if (!(error instanceof ImageMiss) && !isFsError(error)) throw error
  }
  return `inode ${ino}`
}
