import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { noMount } from '../mount/fixture.ts'
import { useCairn } from './run-cairn.ts'

interface Serving {
  readonly url: string
  readonly pid: number
}

describe.skipIf(noMount)('a workspace that is renamed while it is mounted', () => {
  const cairn = useCairn()
  afterAll(() => cairn.run(['down']))

  it('the mount goes on, also after it had to connect again', async () => {
    const serve = ['serve', '--background', '--listen', '127.0.0.1:0']
    const [first] = await cairn.json<Serving>(...serve)
    const work = join(cairn.home(), 'work')
    await cairn.text('mount', ':/', work)
    expect(await cairn.text('ws', 'rename', 'default', 'shop')).toBe(
      'renamed workspace default to shop\nchanged with it: context local\n',
    )
    writeFileSync(join(work, 'before'), '')
    process.kill(first!.pid, 'SIGKILL')
    await cairn.text('serve', '--background', '--listen', new URL(first!.url).host)
    writeFileSync(join(work, 'after'), '')
    await cairn.text('mount', 'drain', work)
    expect(await cairn.text('fs', 'ls', ':/')).toBe('after\nbefore\n')
  })
})
