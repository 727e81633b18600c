import { Writable } from 'node:stream'
import { expect, it } from 'vitest'
import { Output } from '../output/output.ts'
import { WaitingLine } from './waiting-line.ts'

async function said(...pending: readonly number[]): Promise<string> {
  let text = ''
  const stream = new Writable({
    write(chunk: Buffer, _, done) {
      text += chunk.toString()
      done()
    },
  })
  const err = new Output(stream)
  const line = new WaitingLine({ err, isJson: false })
  for (const pendingOps of pending) await line.show({ pendingOps, pendingBytes: 0 })
  await err.flush()
  return text
}

it('says what an unmount waits for, and nothing where nothing is on its way', async () => {
  expect(await said(2)).toBe('waiting for 2 operations (0) to reach the server\n')
  expect(await said(0, 0)).toBe('')
})
