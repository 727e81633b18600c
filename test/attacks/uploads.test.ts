// Sending a completed upload's key again gives the first answer, or none for another upload, and does nothing else.
import { expect, it } from 'vitest'
import { Site } from './site.ts'

it('the key of a completed upload, sent with the id of another: that one stays', async () => {
  const site = await Site.open(['/src/a'], 60_000)
  try {
    const begin = async (): Promise<string> => {
      const { id } = JSON.parse(await site.owner('POST', '/w/uploads')) as { id: string }
      await site.owner('PUT', `/w/uploads/${id}/blocks/0`, 'bytes')
      return id
    }
    const complete = (id: string): Promise<Response> =>
      fetch(`${site.server.url}/v1/workspaces/w/uploads/${id}/complete`, {
        method: 'POST',
        headers: { ...site.ownerHeaders, 'idempotency-key': 'once' },
        body: JSON.stringify({ path: '/src/b', size: 5 }),
      })
    const [first, other] = [await begin(), await begin()]
    expect((await complete(first)).status).toBe(200)
    expect((await complete(other)).status).toBe(409)
    expect(await site.owner('GET', `/w/uploads/${other}`)).toContain('"blocks":[0]')
    expect((await complete(first)).status).toBe(200)
  } finally {
    await site.close()
  }
})
