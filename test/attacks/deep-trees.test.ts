import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serve, type Serving } from '@cairn/server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

let data: string
let serving: Serving

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'cairn-deep-'))
  serving = await serve({ data, listen: '127.0.0.1:0' })
  await ask('POST', '', { name: 'w' })
})

afterAll(async () => {
  await serving?.close()
  await rm(data, { recursive: true })
})

function ask(method: string, path: string, body?: object): Promise<Response> {
  return fetch(`${serving.url}/v1/workspaces${path}`, {
    method,
    headers: { authorization: `Bearer ${serving.ownerKey}` },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
}

const levelsBelow = (top: string, levels: number): string => `/${top}${'/d'.repeat(levels - 1)}`

const makeDirectory = (path: string): Promise<Response> =>
  ask('POST', `/w/files${path}?mkdir`, { parents: true })

async function expectRefused(answer: Response): Promise<void> {
  expect(answer.status).toBe(400)
  const { error } = (await answer.json()) as { error: { errno: string; message: string } }
  expect(error.errno).toBe('ENAMETOOLONG')
  expect(error.message).toContain('1000 levels')
}

describe('a tree that becomes ever deeper', () => {
  it('a tree that becomes ever deeper is made as deep as the limit, and no deeper', async () => {
    expect((await makeDirectory(levelsBelow('made', 1000))).status).toBe(200)
    await expectRefused(await makeDirectory(levelsBelow('more', 1001)))
    await expectRefused(await makeDirectory(levelsBelow('made', 1001)))
  })

  it('a tree that becomes ever deeper is not put together from shallower ones, by moving or copying', async () => {
    await makeDirectory(levelsBelow('upper', 600))
    await makeDirectory(levelsBelow('lower', 600))
    const to = `${levelsBelow('upper', 600)}/lower`
    await expectRefused(await ask('POST', '/w/files/lower?move', { to }))
    await expectRefused(await ask('POST', '/w/files/lower?copy', { to }))
    const operations = [{ op: 'move', path: '/lower', to }]
    await expectRefused(await ask('POST', '/w/batch', { operations }))
  })

  it('a tree that becomes ever deeper is not put together by a commit or a rebase, from a move on one side and new directories on the other', async () => {
    const layer = (name: string): Promise<Response> => ask('POST', '/w/layers', { path: '/', name })
    await makeDirectory('/box/inner')
    await makeDirectory(levelsBelow('tower', 600))
    for (const name of ['commit', 'rebase']) await layer(name)
    for (const name of ['commit', 'rebase']) {
      const path = `/box/inner/${name}${'/d'.repeat(599)}`
      const made = await ask('POST', `/w/files${path}?mkdir&layer=${name}`, { parents: true })
      expect(made.status).toBe(200)
    }
    const to = `${levelsBelow('tower', 600)}/box`
    expect((await ask('POST', '/w/files/box?move', { to })).status).toBe(200)
    await expectRefused(await ask('POST', '/w/layers/commit/commit', {}))
    await expectRefused(await ask('POST', '/w/layers/rebase/rebase', {}))
    // Neither side lost anything, and back in its place it fits.
    expect((await ask('POST', `/w/files${to}?move`, { to: '/box' })).status).toBe(200)
    expect((await ask('POST', '/w/layers/commit/commit', {})).status).toBe(200)
    expect((await ask('DELETE', '/w/files/box?recursive')).status).toBe(200)
  })

  it('a tree that becomes ever deeper is not put together by a merge that moves a tall tree below another one', async () => {
    await makeDirectory(levelsBelow('low', 600))
    await makeDirectory(levelsBelow('high', 300))
    await ask('POST', '/w/layers', { path: '/', name: 'mover' })
    const at = levelsBelow('high', 300)
    const moved = await ask('POST', '/w/files/low?move&layer=mover', { to: `${at}/low` })
    expect(moved.status).toBe(200)
    await makeDirectory(`${levelsBelow('low', 600)}${'/e'.repeat(200)}`)
    await expectRefused(await ask('POST', '/w/layers/mover/commit', {}))
    for (const top of ['low', 'high']) await ask('DELETE', `/w/files/${top}?recursive`)
  })

  it('a tree that becomes ever deeper is listed and removed as any other', async () => {
    const answer = await ask('GET', '/w/files/made?list&recursive')
    expect((await answer.text()).trim().split('\n')).toHaveLength(999)
    expect((await ask('DELETE', '/w/files/made?recursive')).status).toBe(200)
  })
})
