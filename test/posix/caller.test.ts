import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { Caller } from './caller.ts'
import { libc } from './libc.ts'
import { ANN } from './observe.ts'

it.runIf(process.geteuid?.() === 0)(
  'caller › a call as another user that fails: directory, umask and user are as before',
  async () => {
    const directory = await mkdtemp(join(tmpdir(), 'cairn-caller-'))
    const caller = new Caller(directory)
    const seen = (): unknown => [
      process.cwd(),
      process.umask(),
      libc.setfsuid(-1),
      process.getgroups?.(),
    ]
    const before = seen()
    caller.umask = 0o077
    expect(() => caller.call(ANN, 'mkdir', () => libc.mkdir(Buffer.from('d\0'), 0o777))).toThrow(
      'EACCES',
    )
    expect(seen()).toEqual(before)
    caller.dispose()
    await rm(directory, { recursive: true })
  },
)
