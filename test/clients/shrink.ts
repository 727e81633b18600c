import type { History, Turn } from './history.ts'

/**
 * A shorter history that fails, too. Real processes fail now and then, so each is tried `tries` times; what
 * passes by luck is only kept longer than it had to be.
 */
export async function shrink(
  history: History,
  fails: (shorter: History) => Promise<boolean>,
  { tries, endMs }: { readonly tries: number; readonly endMs: number },
): Promise<History> {
  const stillFails = async (shorter: History): Promise<boolean> => {
    for (let left = tries; left > 0 && Date.now() < endMs; left--)
      if (await fails(shorter)) return true
    return false
  }
  let shortest = history
  for (let length = Math.ceil(history.length / 2); length >= 1; length = Math.floor(length / 2))
    for (let at = 0; at < shortest.length && Date.now() < endMs;) {
      const shorter = [...shortest.slice(0, at), ...shortest.slice(at + length)]
      if (shorter.length > 0 && (await stillFails(shorter))) shortest = shorter
      else at += length
    }
  for (let at = 0; at < shortest.length; at++)
    for (const turn of smaller(shortest[at]!)) {
      const shorter = shortest.with(at, turn)
      if (Date.now() < endMs && (await stillFails(shorter))) shortest = shorter
    }
  return shortest
}

/** Without its kill, or without one of its operations. */
function* smaller({ ops, kill }: Turn): Generator<Turn> {
  if (kill !== undefined) yield { ops }
  const rest = kill === undefined ? {} : { kill }
  if (ops.length > 1)
    for (const op of ops) yield { ops: ops.filter((other) => other !== op), ...rest }
}
