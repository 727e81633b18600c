import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { Metrics } from './metrics.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const told = await labelsByName()
const dashboard = JSON.parse(readFileSync(`${root}/deploy/grafana.json`, 'utf8')) as Dashboard

interface Dashboard {
  readonly panels: readonly {
    readonly id: number
    readonly title: string
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number }
    readonly datasource: object
    readonly targets: readonly { readonly expr: string; readonly legendFormat?: string }[]
  }[]
}

/** What `/metrics` says after each kind of thing has happened once: names, and the labels of each. */
async function labelsByName(): Promise<Map<string, Set<string>>> {
  const metrics = new Metrics()
  metrics.requests.observe({ method: 'GET', route: '/', status: 200 }, 0.1)
  metrics.stores.observe({ store: 'meta', operation: 'get', outcome: 'ok' }, 0.1)
  metrics.work.session?.('write', 1)
  metrics.collecting.removed?.('nodes', 1, 1)
  metrics.collecting.ran?.('done', 1)
  const { text } = await metrics.tell()
  const found = new Map<string, Set<string>>()
  for (const [, name = '', pairs = ''] of text.matchAll(/^(cairn_\w+)(?:\{(.*)\})? /gm)) {
    const labels = [...pairs.matchAll(/(\w+)="/g)].map(([, label = '']) => label)
    found.set(name, new Set(labels))
  }
  return found
}

/** The names that a query uses, and the labels that it asks of them. */
function usesOf(query: string): { names: string[]; labels: string[] } {
  const grouped = [...query.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(/,\s*/),
  )
  const matched = [...query.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g)].map(([, label = '']) => label)
  const names = [...query.matchAll(/\bcairn_\w+/g)].map(([name]) => name)
  return { names, labels: [...grouped, ...matched] }
}

describe('the dashboard of deploy/grafana.json', () => {
  const targets = dashboard.panels.flatMap(({ title, targets: all }) =>
    all.map((target) => ({ title, ...target })),
  )

  it.each(targets)('$title: $expr', ({ expr, legendFormat = '' }) => {
    const { names, labels } = usesOf(expr)
    expect(names).not.toEqual([])
    for (const name of names) expect([...told.keys()]).toContain(name)
    const known = names.flatMap((name) => [...(told.get(name) ?? [])])
    expect(known).toEqual(expect.arrayContaining(labels))
    const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label)
    expect(labels).toEqual(expect.arrayContaining(shown))
  })

  it('the dashboard of deploy/grafana.json has panels that do not overlap, with the chosen data source', () => {
    const places = dashboard.panels.map(({ gridPos: { x, y } }) => `${x},${y}`)
    expect(new Set(places).size).toBe(places.length)
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(places.length)
    for (const { datasource, gridPos } of dashboard.panels) {
      expect(datasource).toEqual({ type: 'prometheus', uid: '${datasource}' })
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24)
    }
  })
})

it('the guide for operators names metrics that exist', () => {
  const guide = readFileSync(`${root}/docs/guides/operations.md`, 'utf8')
  const names = [...guide.matchAll(/`(cairn_[a-z_]+)/g)].map(([, name = '']) => name)
  expect(names).not.toEqual([])
  for (const name of names) expect([...told.keys()].join('\n')).toContain(name)
})
