import { describe, expect, it } from 'vitest'
import type { ModelClient } from './model-client.ts'
import { ModelWorld } from './model-world.ts'
import type { Scenario, Who } from './scenario.ts'

const programs = 8

/** Each microtask runs before the next immediate. */
const drained = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

interface Making {
  readonly client: ModelClient
  /** What the mount has sent before the server has answered anything. */
  readonly sent: readonly string[]
  readonly made: Promise<unknown>
}

/** Several programs of one mount make a file each in `p`. */
async function makeFiles(world: ModelWorld, who: Who): Promise<Making> {
  const client = world.clients.find((each) => each.who === who)!
  const making = Array.from({ length: programs }, () => client.run({ does: 'create', in: 'p' }))
  await drained()
  const sent = client.way.toServer.map(({ message }) => message.type)
  return { client, sent, made: Promise.all(making) }
}

/** How many batches each append brings. None is done until `open` is called. */
function holdAppends({ disk: { log } }: ModelWorld): {
  readonly sizes: readonly number[]
  readonly open: () => void
} {
  const append = log.append.bind(log)
  const sizes: number[] = []
  const { promise, resolve: open } = Promise.withResolvers<void>()
  log.append = async (branch, rows, charges) => {
    sizes.push(rows.length)
    await promise
    return append(branch, rows, charges)
  }
  return { sizes, open }
}

const submits = Array.from({ length: programs }, () => 'submit')

describe('changes of one mount that the server decides', () => {
  const together: Scenario = {
    name: 'programs of one mount make files in a directory in which others work',
    holders: ['a', 'b'],
    programs: { a: [], b: [], c: [] },
  }

  it('are sent without waiting for each other, and two appends take them', async () => {
    // What the holders have there is given back.
    const before = [['c', { does: 'look', in: 'p' }]] as const
    const world = await ModelWorld.begin({ ...together, before })
    const { client, sent, made } = await makeFiles(world, 'c')
    expect(sent).toEqual(submits)
    const { sizes, open } = holdAppends(world)
    while (client.way.toServer.length > 0) await world.take('c to server')
    expect(sizes).toEqual([1])
    open()
    await world.settle()
    await made
    expect(sizes.slice(0, 2)).toEqual([1, programs - 1])
    expect(world.promises.faults).toEqual([])
  })
})
