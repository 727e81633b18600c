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
