// Layers of paths that a token does not see leave no trace in what it is told.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Site } from './site.ts'

const allow = [{ path: '/src', operations: ['read', 'list', 'write', 'delete'] }]

interface Page {
  readonly items: readonly { readonly id: string; readonly name?: string }[]
  readonly next?: string
}

describe('a layer that a token does not see', () => {
  let site: Site
  let key: string

  beforeEach(async () => {
    site = await Site.open(['/src/a', '/hidden/h'], 60_000)
    key = await site.issue(allow)
  })
  afterEach(() => site.close())

  const ask = async (
    method: string,
    path: string,
    body?: object,
  ): Promise<{ status: number; text: string }> => {
    const answer = await fetch(`${site.server.url}/v1/workspaces/w${path}`, {
      method,
      headers: { authorization: `Bearer ${key}` },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    return { status: answer.status, text: await answer.text() }
  }
  const make = (path: string, name: string): Promise<string> =>
    site.owner('POST', '/w/layers', { path, name })

  it('a layer that a token does not see is not in the cursor of a listing, and pages are full without it', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e'])
      await make(name === 'a' || name === 'd' ? '/src' : '/hidden', name)
    const first = await ask('GET', '/layers?limit=1')
    const page = JSON.parse(first.text) as Page
    expect(page.items.map(({ name }) => name)).toEqual(['a'])
    expect(page.next!.endsWith(page.items[0]!.id)).toBe(true)
    const second = JSON.parse(
      (await ask('GET', `/layers?limit=1&cursor=${encodeURIComponent(page.next!)}`)).text,
    ) as Page
    expect(second.items.map(({ name }) => name)).toEqual(['d'])
    // That there are more behind it is not told.
    expect(second.next).toBe(undefined)
  })

  it('a layer that a token does not see does not show by its name: one that it has is as free as any other', async () => {
    await make('/hidden', 'secret-plan')
    const answers = []
    for (const name of ['secret-plan', 'free']) {
      const made = await ask('POST', '/layers', { path: '/src', name })
      const { name: shown } = JSON.parse(made.text) as { name: string }
      const again = await ask('POST', '/layers', { path: '/src', name })
      const found = await ask('GET', `/layers/${name}`)
      const put = await ask('PUT', `/files/src/n?layer=${name}`)
      const renamed = await ask('PATCH', `/layers/${name}`, { message: 'm' })
      answers.push([
        made.status,
        shown === name,
        again.status,
        found.status,
        put.status,
        renamed.status,
      ])
    }
    expect(answers[0]).toEqual(answers[1])
    expect(answers[0]).toEqual([201, true, 409, 200, 201, 200])
    // The owner's is the one that it was.
    expect(await site.owner('GET', '/w/layers/secret-plan')).toContain('"/hidden"')
  })

  it('a layer that a token does not see does not show by a name that another one is to get', async () => {
    await make('/hidden', 'secret-plan')
    await make('/src', 'mine')
    const renamed = await ask('PATCH', '/layers/mine', { name: 'secret-plan' })
    expect([renamed.status, (JSON.parse(renamed.text) as { name: string }).name]).toEqual([
      200,
      'secret-plan',
    ])
  })

  it('a layer that a token does not see does not show by its id: who does not see everything does not choose ids', async () => {
    await site.owner('POST', '/w/layers', { path: '/hidden', id: 'ly_hidden' })
    for (const id of ['ly_hidden', 'ly_free'])
      expect((await ask('POST', '/layers', { path: '/src', id })).status, id).toBe(403)
  })
})
