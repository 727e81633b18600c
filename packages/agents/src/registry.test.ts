import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { tools } from './registry.ts'
import { version } from './version.ts'

it('each tool has a JSON schema, a title and a description that a model can read', () => {
  const names = tools.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  for (const { name, title, description, input, output } of tools) {
    expect(name).toMatch(/^[a-z]+(_[a-z]+)*$/)
    expect(title.length).toBeLessThan(40)
    expect(description).toMatch(/\.$/)
    expect(z.toJSONSchema(input, { io: 'input' })).toMatchObject({ type: 'object' })
    expect(z.toJSONSchema(output)).toMatchObject({ type: 'object' })
  }
})

it('docs/agents/tools.md lists every tool with what it needs and whether it asks', () => {
  const page = readFileSync(new URL('../../../docs/agents/tools.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| `(\w+)` \| .+ \| (.+) \| (.+) \|$/gm)].map((row) =>
    row.slice(1),
  )
  const wanted = tools.map(({ name, needs, effect }) => [
    name,
    needs.length === 7 ? 'any' : needs.join(' or '),
    effect === 'removes' ? 'yes' : 'no',
  ])
  expect(rows).toEqual(wanted)
})

it('the version is that of the package', () => {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  expect(JSON.parse(text)).toMatchObject({ version })
})
