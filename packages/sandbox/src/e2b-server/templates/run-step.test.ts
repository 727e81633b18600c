import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import type { Jail } from '../../jail/jail.ts'
import type { BuildFiles } from './build-files.ts'
import { runStep } from './run-step.ts'

it('a step that fails is told with its last words, also when they come after its end', async () => {
  const [stdout, stderr] = [new PassThrough().end(), new PassThrough()]
  const child = { pid: 5, stdout, stderr, exit: Promise.resolve({ code: 4, signal: null }) }
  const jail = { start: () => Promise.resolve(child) } as unknown as Jail
  const failing = runStep({
    jail,
    step: { type: 'RUN', args: ['make'] },
    number: '2',
    settings: { env: {}, user: 'user', workDir: undefined },
    files: {} as BuildFiles,
    say: () => undefined,
  })
  const failure = expect(failing).rejects.toThrow('exit status 4: broken words')
  await child.exit
  setImmediate(() => stderr.end('broken words\n'))
  await failure
})
