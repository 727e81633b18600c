import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { memoryServers } from '../testing/memory-servers.ts'

const page = readFileSync(new URL('../../../../docs/reference/http.md', import.meta.url), 'utf8')
const root = '/v1/workspaces/{workspace}'

describe('the OpenAPI document', () => {
  it('has every route of layers, and docs/reference/http.md tells of each', async () => {
    const { paths } = await memoryServers().open().openApi()
    const routes = Object.entries(paths)
      .filter(([url]) => url.startsWith(`${root}/layers`) || url === `${root}/fork`)
      .flatMap(([url, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${url.slice(root.length)}`),
      )
    const layer = '/layers/{layer}'
    // Whatever can be read has a HEAD of its own accord.
    const told = routes.filter((route) => !route.startsWith('HEAD'))
    expect(told.sort()).toEqual(
      [
        'POST /fork',
        'GET /layers',
        'POST /layers',
        ...['DELETE', 'GET', 'PATCH'].map((method) => `${method} ${layer}`),
        ...['chain', 'checkpoints', 'diff'].map((noun) => `GET ${layer}/${noun}`),
        ...['abandon', 'checkpoints', 'commit', 'pick', 'rebase', 'reopen', 'resolve'].map(
          (verb) => `POST ${layer}/${verb}`,
        ),
        ...['rollback', 'undo'].map((verb) => `POST ${layer}/${verb}`),
        `DELETE ${layer}/checkpoints/{checkpoint}`,
      ].sort(),
    )
    for (const route of told) {
      const [method, url] = route.split(' ')
      const spellings = [
        `\`${route}`,
        `\`${method} ${root}${url}`,
        `\`${url!.slice(layer.length)}\``,
      ]
      expect(
        spellings.some((text) => page.includes(text)),
        route,
      ).toBe(true)
    }
  })
})
