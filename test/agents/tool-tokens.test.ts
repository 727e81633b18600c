import { describe, expect, it } from 'vitest'
import { tools, toolsFor } from '@cairn/agents'
import { Cairn } from '@cairn/sdk'
import { type AccessOperation, accessOperations, grantOfToken, parseToken } from '@cairn/protocol'
import { useAgentSite } from './site.ts'

const { server, run, data, as } = useAgentSite()

/** Arguments with which the owner succeeds. */
const inputs: Readonly<Record<string, unknown>> = {
  read: { file_path: '/in/a' },
  write: { file_path: '/in/new', content: 'x' },
  edit: { file_path: '/in/a', old_string: 'one', new_string: 'two' },
  multi_edit: { file_path: '/in/a', edits: [{ old_string: 'one', new_string: 'two' }] },
  ls: { path: '/in' },
  glob: { pattern: 'in/*' },
  grep: { pattern: 'one|hidden', output_mode: 'content' },
  move: { from: '/in/b', to: '/in/c' },
  remove: { path: '/in/b' },
  log: {},
  diff: { layer: 'try' },
  sql: { sql: 'select path, text from files' },
  checkpoint: { layer: 'try' },
  rollback: { layer: 'try' },
  undo: { tool_call: 'prepared', path: '/in' },
  attempt_create: { path: '/in' },
  attempt_list: {},
  attempt_compare: { attempts: ['try'] },
  attempt_commit: { attempt: 'try' },
  attempt_discard: { attempt: 'try' },
  todo_read: { directory: '/in' },
  todo_write: { directory: '/in', todos: [] },
}

async function prepare(): Promise<void> {
  const { cairn } = server()
  await cairn.workspaces.delete('w')
  await cairn.workspaces.create('w')
  const { files, layers } = cairn.workspace('w')
  await files.write('/in/a', 'one\n')
  await files.write('/in/b', 'b\n')
  await files.write('/in/.cairn/todo/main.json', '[]')
  await files.write('/out/secret', 'hidden-words\n')
  await layers.create('/in', { name: 'try' })
  await data('write', { file_path: '/in/n', content: 'n', layer: 'try' })
  const called = new Cairn({ server: server().url, apiKey: server().apiKey, toolCall: 'prepared' })
  await called.workspace('w').batch([
    { op: 'write', path: '/in/called', text: 'x' },
    { op: 'write', path: '/out/secret-too', text: 'hidden-words' },
  ])
}

async function tokenFor(operations: readonly AccessOperation[]): Promise<string> {
  const { tokens } = server().cairn.workspace('w')
  const allow = [{ path: '/in', operations }]
  return (await tokens.issue('t', { ttlMs: 60_000, allow })).secret
}

const sets: readonly (readonly AccessOperation[])[] = [
  ...accessOperations.map((one): AccessOperation[] => (one === 'search' ? ['read', one] : [one])),
  ['read', 'list', 'search', 'write', 'delete', 'commit'],
]

describe.each(sets.map((set) => ({ set })))('a token with $set', ({ set }) => {
  it('a tool that is not shown to it fails, and none shows what is outside', async () => {
    let isPrepared = false
    for (const tool of tools) {
      if (!isPrepared) await prepare()
      const secret = await tokenFor(set)
      const shown = toolsFor(grantOfToken(parseToken(secret)!))
      const outcome = await run(tool.name, inputs[tool.name], { cairn: as(secret) })
      isPrepared = outcome.isError
      if (!shown.includes(tool)) expect([tool.name, outcome.isError]).toEqual([tool.name, true])
      expect(JSON.stringify(outcome)).not.toMatch(/hidden-words|secret/)
    }
  })
})

it('a tool that is shown to a token with everything works for it', async () => {
  for (const tool of toolsFor(undefined)) {
    await prepare()
    const secret = await tokenFor(sets.at(-1)!)
    const outcome = await run(tool.name, inputs[tool.name], { cairn: as(secret) })
    expect([tool.name, outcome.text]).toEqual([tool.name, expect.not.stringContaining('cannot')])
  }
})

it('a token undoes only where it may see and change everything', async () => {
  await prepare()
  const cairn = as(await tokenFor(sets.at(-1)!))
  for (const path of [undefined, '/', '/out'])
    expect((await run('undo', { tool_call: 'prepared', path }, { cairn })).isError).toBe(true)
  const { text } = await run('undo', { tool_call: 'prepared', path: '/in' }, { cairn })
  expect(text).toBe('Undone: changed 1 path.\ndeleted /in/called')
  const { files } = server().cairn.workspace('w')
  expect(await files.exists('/out/secret-too')).toBe(true)
})

it('the paths outside a token are absent for every tool that takes a path', async () => {
  await prepare()
  const cairn = as(await tokenFor(sets.at(-1)!))
  const path = '/out/secret'
  const calls: [string, unknown][] = [
    ['read', { file_path: path }],
    ['edit', { file_path: path, old_string: 'hidden', new_string: 'x' }],
    ['move', { from: path, to: '/in/stolen' }],
    ['remove', { path }],
    ['ls', { path: '/out' }],
    ['todo_read', { directory: '/out' }],
  ]
  for (const [name, input] of calls) {
    const { text } = await run(name, input, { cairn })
    expect(text).not.toContain('hidden-words')
    if (name !== 'todo_read') expect([name, text]).toEqual([name, expect.stringMatching(/^cannot/)])
  }
  expect((await run('glob', { pattern: '**' }, { cairn })).text).not.toContain('secret')
})
