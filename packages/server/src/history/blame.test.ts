import type { Blame, LogEntry, Page } from '@cairn/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { type MemoryServer, memoryServers } from '../testing/memory-servers.ts'

let server: MemoryServer

beforeEach(async () => {
  server = memoryServers().open()
  await server.call('POST', '', { name: 'w' })
})

/** A change, under the name of a tool call. */
async function change(
  by: string,
  method: 'PUT' | 'POST' | 'DELETE',
  url: string,
  payload?: string | object,
): Promise<void> {
  const answer = await server.call(method, `/w${url}`, payload, { 'x-cairn-tool-call': by })
  if (answer.status >= 300) throw new Error(`${method} ${url}: ${answer.body}`)
}

/** `a: line`, with who changed it last. */
async function blameOf(path: string, query = ''): Promise<string[]> {
  const { json } = await server.call<Blame>('GET', `/w/blame?path=${path}${query}`)
  const { origins, parts } = json
  return parts.flatMap(({ text, origin }) => {
    const { toolCall, layer, op } = origins[origin ?? -1] ?? {}
    const who = `${layer === undefined ? '' : 'layer '}${toolCall ?? op ?? 'unknown'}`
    return (text ?? '(binary)\n')
      .split('\n')
      .slice(0, -1)
      .map((line) => `${who}: ${line}`)
  })
}

async function logOf(path: string, query = ''): Promise<string[]> {
  const url = `/w/log?path=${path}&paths=then${query}`
  const { json } = await server.call<Page<LogEntry>>('GET', url)
  return json.items.flatMap(({ toolCall = '-', layer, operations }) =>
    operations.map(({ op, path: where, to }) => {
      const short = op.replace(/ .*/, '')
      return `${layer === undefined ? '' : 'layer '}${toolCall} ${short} ${where}${to === undefined ? '' : ` ${to}`}`
    }),
  )
}

describe('blame', () => {
  it('a line is of who changed it last, whether the file is written as a whole or in part', async () => {
    await change('a', 'PUT', '/files/f', '1\n2\n3\n')
    await change('b', 'PUT', '/files/f', '0\n1\n2\n3\n')
    await change('c', 'POST', '/files/f?append', '4\n')
    await change('d', 'PUT', '/files/f', '0\n1\nnew\n3\n4\n')
    expect(await blameOf('/f')).toEqual(['b: 0', 'a: 1', 'd: new', 'a: 3', 'c: 4'])
  })

  it('a save by rename changes what it changed, and a moved file takes its lines along', async () => {
    await change('a', 'PUT', '/files/f', '1\n2\n')
    await change('b', 'PUT', '/files/.f.tmp', '1\nmine\n')
    await change('b', 'POST', '/files/.f.tmp?move', { to: '/f' })
    expect(await blameOf('/f')).toEqual(['a: 1', 'b: mine'])
    await change('c', 'POST', '/files/f?move', { to: '/d/g', parents: true })
    await change('d', 'POST', '/files/d/g?append', 'end\n')
    expect(await blameOf('/d/g')).toEqual(['a: 1', 'b: mine', 'd: end'])
  })

  it('a file that has gone is shown as it was, with who took it away', async () => {
    await change('a', 'PUT', '/files/f', '1\n')
    await change('b', 'DELETE', '/files/f')
    expect(await blameOf('/f')).toEqual(['a: 1'])
    const { json } = await server.call<Blame>('GET', '/w/blame?path=/f')
    expect(json.deleted?.toolCall).toBe('b')
    await change('c', 'PUT', '/files/f', '1\n2\n')
    expect(await blameOf('/f')).toEqual(['c: 1', 'c: 2'])
    expect((await server.call('GET', '/w/blame?path=/none')).status).toBe(404)
  })

  it('a binary file is of who wrote it last', async () => {
    await change('a', 'PUT', '/files/f', '\0one')
    await change('b', 'PUT', '/files/f', '\0two')
    expect(await blameOf('/f')).toEqual(['b: (binary)'])
  })

  it('what a commit brought in is of who wrote it in the layer, also where both sides were merged', async () => {
    await change('a', 'PUT', '/files/f', '1\n2\n3\n4\n5\n')
    await change('a', 'POST', '/layers', { name: 'x' })
    await change('b', 'PUT', '/files/f?layer=x', '1\n2\n3\n4\nfive\n')
    await change('c', 'PUT', '/files/f', 'one\n2\n3\n4\n5\n')
    expect(await blameOf('/f', '&layer=x')).toEqual(['a: 1', 'a: 2', 'a: 3', 'a: 4', 'b: five'])
    await change('m', 'POST', '/layers/x/commit', { merge: true })
    expect(await blameOf('/f')).toEqual(['c: one', 'a: 2', 'a: 3', 'a: 4', 'layer b: five'])
    await change('d', 'PUT', '/files/f', 'one\n2\n3\n4\nfive\n6\n')
    expect(await blameOf('/f')).toEqual(['c: one', 'a: 2', 'a: 3', 'a: 4', 'layer b: five', 'd: 6'])
  })

  it('a rebased layer has its own lines and those of its parent', async () => {
    await change('a', 'PUT', '/files/f', '1\n2\n3\n4\n5\n')
    await change('a', 'POST', '/layers', { name: 'x' })
    await change('b', 'PUT', '/files/f?layer=x', '1\n2\n3\n4\nfive\n')
    await change('c', 'PUT', '/files/f', 'one\n2\n3\n4\n5\n')
    await change('r', 'POST', '/layers/x/rebase', { merge: true })
    expect(await blameOf('/f', '&layer=x')).toEqual(['c: one', 'a: 2', 'a: 3', 'a: 4', 'b: five'])
  })
})

describe('the log of a path, as it was then', () => {
  it('tells of what has gone and of what has moved', async () => {
    await change('a', 'PUT', '/files/d/f', '1')
    await change('b', 'PUT', '/files/d/f', '2')
    await change('c', 'POST', '/files/d?move', { to: '/e' })
    await change('d', 'DELETE', '/files/e/f')
    const told = await logOf('/d/f')
    expect(told.filter((line) => line.startsWith('b'))).toContain('b write /d/f')
    expect((await logOf('/e')).at(-1)).toBe('d unlink /e/f')
    expect(await logOf('/d')).toContain('c rename /d /e')
  })

  it('follows a file to where it is now', async () => {
    await change('a', 'PUT', '/files/draft', '1')
    await change('b', 'POST', '/files/draft?move', { to: '/plan' })
    expect(await logOf('/plan')).toEqual(
      expect.arrayContaining(['a write /draft', 'b rename /draft /plan']),
    )
  })

  it('the log of a path has what a layer did before its commit, page by page and from either end', async () => {
    await change('a', 'POST', '/layers', { name: 'x' })
    await change('b', 'PUT', '/files/f?layer=x', '1')
    await change('b', 'PUT', '/files/other?layer=x', '1')
    await change('m', 'POST', '/layers/x/commit', {})
    const told = await logOf('/f')
    expect(told).toContain('layer b write /f')
    expect(told.at(-1)).toBe('m commit /f')
    expect(await logOf('/f', '&order=newest')).toEqual(
      expect.arrayContaining(told.toReversed().slice(0, 1)),
    )
    const first = await server.call<Page<LogEntry>>('GET', '/w/log?path=/f&paths=then&limit=1')
    const rest = await server.call<Page<LogEntry>>(
      'GET',
      `/w/log?path=/f&paths=then&limit=100&cursor=${first.json.next}`,
    )
    const whole = await server.call<Page<LogEntry>>('GET', '/w/log?path=/f&paths=then')
    expect([...first.json.items, ...rest.json.items]).toEqual(whole.json.items)
  })
})
