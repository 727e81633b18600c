import type { LayerOverlap } from '@cairn/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { LayerFixture, ok, refused } from '../../test/layer-fixture.ts'

let fixture: LayerFixture

beforeEach(async () => {
  fixture = new LayerFixture()
  await fixture.fill()
  for (const path of ['/repo/src/deep/a.ts', '/repo/src/b.ts', '/repo/lib/c.ts'])
    await fixture.write(path, 'x')
})

type Change = (layer: string) => Promise<unknown>

const write = (path: string): Change => {
  return (layer) => fixture.write(path, `of ${layer}`, layer)
}
const move = (path: string, to: string): Change => {
  return (layer) => ok(fixture.server.call('POST', `/w/files${path}?move&layer=${layer}`, { to }))
}
const remove = (path: string): Change => {
  return (layer) => ok(fixture.server.call('DELETE', `/w/files${path}?recursive&layer=${layer}`))
}

/** What a layer that did the first is told of one that did the second. */
const told = async (mine: Change, theirs: Change): Promise<readonly LayerOverlap[]> => {
  for (const name of ['mine', 'theirs']) await fixture.create({ name })
  await mine('mine')
  await theirs('theirs')
  return (await fixture.status('mine')).overlaps
}

describe('a change by another layer overlaps with this layer', () => {
  const cases: [fact: string, mine: Change, theirs: Change, told: Partial<LayerOverlap>[]][] = [
    [
      'the same file',
      write('/repo/src/b.ts'),
      write('/repo/src/b.ts'),
      [{ path: '/repo/src/b.ts', kind: 'modified' }],
    ],
    [
      'a directory above my file was renamed',
      write('/repo/src/deep/a.ts'),
      move('/repo/src', '/repo/new'),
      [{ path: '/repo/new', from: '/repo/src', kind: 'renamed' }],
    ],
    [
      'a directory above my new file was taken away',
      write('/repo/src/deep/new.ts'),
      remove('/repo/src/deep'),
      [{ path: '/repo/src/deep', kind: 'deleted' }],
    ],
    [
      'a file in a directory that I renamed',
      move('/repo/src', '/repo/new'),
      write('/repo/src/deep/a.ts'),
      [{ path: '/repo/src/deep/a.ts', kind: 'modified' }],
    ],
    [
      'a new file in a directory that I took away',
      remove('/repo/src/deep'),
      write('/repo/src/deep/new.ts'),
      [{ path: '/repo/src/deep/new.ts', kind: 'added' }],
    ],
    [
      'my file was renamed',
      write('/repo/src/b.ts'),
      move('/repo/src/b.ts', '/repo/b.ts'),
      [{ path: '/repo/b.ts', from: '/repo/src/b.ts', kind: 'renamed' }],
    ],
    ['another file of the same directory', write('/repo/src/b.ts'), write('/repo/src/c.ts'), []],
    ['another directory was renamed', write('/repo/src/b.ts'), move('/repo/lib', '/repo/l'), []],
    ['one that only begins alike', write('/repo/lib/c.ts'), write('/repo/library.ts'), []],
  ]

  it.each(cases)('%s', async (_, mine, theirs, expected) => {
    expect(await told(mine, theirs)).toMatchObject(
      expected.map((each) => ({ name: 'theirs', ...each })),
    )
  })

  it('nothing changed is nothing met', async () => {
    const nothing: Change = async () => {}
    expect(await told(nothing, remove('/repo/src'))).toEqual([])
  })
})

it('only the newest siblings are compared, whatever state the others have', async () => {
  await fixture.create({ name: 'mine' })
  await fixture.write('/repo/a.txt', 'mine', 'mine')
  for (let index = 0; index < 100; index++) {
    await fixture.create({ name: `old${index}` })
    await fixture.write('/repo/b.txt', `${index}`, `old${index}`)
  }
  await fixture.create({ name: 'new' })
  await fixture.write('/repo/a.txt', 'new', 'new')
  await fixture.write('/repo/b.txt', 'main')
  for (let index = 0; index < 100; index++) await refused(fixture.post(`/old${index}/commit`))
  expect((await fixture.status('mine')).overlaps).toMatchObject([
    { name: 'new', path: '/repo/a.txt' },
  ])
}, 60_000)
