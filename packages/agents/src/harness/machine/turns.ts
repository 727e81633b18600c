interface Turn {
  users: number
  looking: Promise<void>
}

/** By reservation. Harnesses of one process may share a jail. */
const turns = new Map<string, Turn>()

/** Any number of uses at once, none of them while `lookBetween` works on the machine. */
export async function use<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
  const turn = turns.get(key) ?? { users: 0, looking: Promise.resolve() }
  turns.set(key, turn)
  turn.users++
  try {
    await turn.looking
    return await work()
  } finally {
    turn.users--
    if (turn.users === 0) turns.delete(key)
  }
}

/** Does nothing where the machine is in use, because that is looking after it. */
export async function lookBetween(key: string, work: () => Promise<void>): Promise<void> {
  const turn = turns.get(key) ?? { users: 0, looking: Promise.resolve() }
  if (turn.users > 0) return
  turns.set(key, turn)
  const looking = turn.looking.then(work)
  turn.looking = looking.catch(() => undefined)
  await looking
}
