import fc from 'fast-check'
import { expect, it } from 'vitest'
import { tools } from '@cairn/agents'
import { useAgentSite } from './site.ts'

const { run, server } = useAgentSite()

/** Mostly the right names, so that the values get through to the tools. */
const anyInput = (names: readonly string[]): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 1, arbitrary: fc.anything() },
    {
      weight: 8,
      arbitrary: fc.dictionary(
        fc.constantFrom(...names, 'unknown'),
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.constantFrom('/', '/a', 'main', '..', '\0', '/a/../b', '*'),
          fc.integer(),
          fc.boolean(),
          fc.constant(null),
          fc.array(fc.record({ old_string: fc.string(), new_string: fc.string() }), {
            maxLength: 3,
          }),
        ),
      ),
    },
  )

it('no tool tells a secret of the vault, nor the key that opens it', async () => {
  const { cairn, apiKey } = server()
  const workspace = cairn.workspace('w')
  await workspace.files.write('/file', 'text\n', { mode: 0o600 })
  const hidden = 'do-not-tell-7f3a'
  await workspace.vault.put('prod-db', { DB_URL: hidden })
  await workspace.vault.read('prod-db')
  const inputs: Readonly<Record<string, readonly object[]>> = {
    read: [{ file_path: '/prod-db' }, { file_path: '/file' }],
    grep: [{ pattern: 'do-not-tell', output_mode: 'content' }, { pattern: '.' }],
    sql: ['files', 'changes', 'log', 'layers', 'checkpoints', 'journals', 'tags'].map((table) => ({
      sql: `select * from ${table}`,
    })),
    attempt_create: [{ name: 'look', message: 'look' }],
    diff: [{ layer: 'look' }],
  }
  for (const tool of tools)
    for (const input of inputs[tool.name] ?? [{}, { path: '/' }]) {
      const told = JSON.stringify(await run(tool.name, input))
      for (const secret of [hidden, apiKey, apiKey.split('.').at(-1)!])
        expect(told).not.toContain(secret)
    }
})

it('any arguments give an answer or one line for the model, never a crash', async () => {
  await server().cairn.workspace('w').files.write('/a', 'text\n')
  for (const tool of tools)
    await fc.assert(
      fc.asyncProperty(anyInput(Object.keys(tool.input.shape)), async (input) => {
        const outcome = await run(tool.name, input)
        if (!outcome.isError) return void tool.output.parse(outcome.data)
        expect(outcome.text).toMatch(/^cannot .+\.$/s)
        expect(outcome.text).not.toContain('\n')
        expect(outcome.text).not.toContain('undefined')
      }),
      { numRuns: Number(process.env['CAIRN_RUNS'] ?? 1) * 25 },
    )
})
