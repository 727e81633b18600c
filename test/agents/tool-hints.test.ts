import { beforeAll, expect, it } from 'vitest'
import { useAgentSite } from './site.ts'

const { as, data, failure, server } = useAgentSite()

beforeAll(async () => {
  await data('write', { file_path: '/a', content: 'text\n' })
  await data('attempt_create', { name: 'open' })
  await data('attempt_create', { name: 'closed' })
  await data('attempt_discard', { attempt: 'closed' })
})

/** A model has the tools, and not the command line. */
it.each([
  ['read', { path: '/a' }, /there is no argument path\. .*file_path, offset/],
  ['ls', { path: '/', depth: 2 }, /there is no argument depth\. .*recursive/],
  ['rollback', { layer: 'open', checkpoint: 'good' }, /there is no argument checkpoint\. .*to,/],
  ['rollback', { layer: 'open', to: 'none' }, /sql: select \* from checkpoints/],
  ['read', { file_path: '/a', at: 'none' }, /sql: select \* from checkpoints/],
  ['diff', {}, /only attempts have one\. Give a checkpoint as "from"/],
  ['diff', { layer: 'none' }, /attempt_list/],
  ['grep', { pattern: '(' }, /write a \\ before/],
  ['write', { file_path: '/b', content: '', layer: 'closed' }, /attempt_create/],
  ['read', { file_path: '/a', workspace: 'none' }, /Leave out "workspace"/],
])('%s %j: the next step is in terms of the tools', async (tool, input, expected) => {
  const text = await failure(tool, input)
  expect(text).toMatch(expected)
  expect(text).not.toMatch(/cairn fs|cairn ws|--\w/)
})

it('a token that was revoked: the model is told to ask its user', async () => {
  const { tokens } = server().cairn.workspace('w')
  const allow = [{ path: '/', operations: ['read', 'list'] as const }]
  const { id, secret } = await tokens.issue('gone', { ttlMs: 60_000, allow })
  await tokens.revoke(id)
  const cairn = as(secret)
  expect(await failure('read', { file_path: '/a' }, { cairn })).toMatch(/Ask your user/)
})
