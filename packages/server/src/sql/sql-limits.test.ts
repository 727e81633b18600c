import { expect, it } from 'vitest'
import { sqlFixture } from '../../test/sql-fixture.ts'

const { make, rows, ask } = sqlFixture(1500)

it('a statement without an end is ended, and the next one runs', async () => {
  const root = await make({ '/a': 'x' })
  const endless =
    'with recursive c(x) as (select 1 union all select x + 1 from c) select count(*) from c'
  const answer = await ask(root, endless)
  expect(answer.json().error).toMatchObject({
    code: 'too_slow',
    reason: 'it took longer than 1.5 s',
  })
  expect(await rows(root, 'select path from files')).toEqual([['/a']])
})

it('a value larger than 16 MiB is refused', async () => {
  const root = await make({})
  const answer = await ask(root, 'select length(zeroblob(20000000))')
  expect(answer.json().error.reason).toBe('string or blob too big')
})
