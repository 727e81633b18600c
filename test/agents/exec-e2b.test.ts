import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { askShared } from '@cairn/server/testing'
import { useCairn } from '../e2e/run-cairn.ts'
import { type E2BSetup, openE2BSetup } from '../sandbox/e2b-setup.ts'
import { noJail } from '../sandbox/local-setup.ts'

interface Receipt {
  readonly layer: string
  readonly exitCode: number
  readonly timedOut: boolean
  readonly place: string
  readonly checkpoint: string
  readonly toolCall: string
  readonly changes: readonly { readonly kind: string; readonly path: string }[]
  readonly log: { readonly after: number; readonly to: number }
}

describe.skipIf(noJail !== undefined)(`cairn exec --sandbox e2b (${noJail ?? 'as root'})`, () => {
  const cairn = useCairn()
  let setup: E2BSetup
  beforeAll(async () => {
    setup = await openE2BSetup()
  })
  afterAll(() => setup.close())

  async function exec(
    workspace: string,
    ...words: string[]
  ): Promise<Receipt & { code: number | null; stderr: string }> {
    const { template, serverInside, server } = setup
    const place = ['--sandbox', 'e2b', '--template', template, '--server-inside', serverInside]
    const env = {
      ...setup.env,
      CAIRN_SERVER: server.url,
      CAIRN_API_KEY: server.apiKey,
      CAIRN_SINGLE_FILE: join((await askShared<string>('command'))!, 'cairn-single'),
    }
    const asked = ['exec', '--json', '-w', workspace, ...place, ...words]
    const { code, stdout, stderr } = await cairn.run(asked, { env })
    if (stdout.length === 0) throw new Error(stderr)
    return { ...(JSON.parse(stdout.toString()) as Receipt), code, stderr }
  }

  it('runs in a machine that has the layer mounted; the receipt has exit code, paths, checkpoint, log', async () => {
    const { name, files, layers } = await setup.makeWorkspace()
    await files.write('/in/kept', 'kept\n', { parents: true })
    const script = 'cat kept; echo made > made; test -z "$CAIRN_API_KEY"; exit 3'
    const receipt = await exec(name, '--path', '/in', '--', 'sh', '-c', script)
    expect(receipt).toMatchObject({ code: 3, exitCode: 3, place: 'e2b', timedOut: false })
    expect(receipt.stderr).toContain('kept\n')
    expect(receipt.changes).toMatchObject([{ kind: 'added', path: '/in/made' }])
    const { seq } = (await layers.status(receipt.layer)).head
    expect([receipt.log.to, receipt.log.to > receipt.log.after]).toEqual([seq, true])
    expect(await files.exists('/in/made')).toBe(false)
    const made = await exec(name, '--layer', receipt.layer, '--', 'cat', 'made')
    expect(made).toMatchObject({ exitCode: 0, layer: receipt.layer })
    expect(made.stderr).toContain('made\n')
  })
})
