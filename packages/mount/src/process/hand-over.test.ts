import { expect, it, vi } from 'vitest'
import type { MountConfig } from './config.ts'
import { handOver } from './hand-over.ts'
import type { Supervisor } from './supervisor.ts'

it('a supervisor that cannot be started: told, and the one before goes on', async () => {
  const notOpen = 9999
  const usable = {
    fd: notOpen,
    memory: 0,
    init: {},
    daemon: { started: { pid: 1, channel: 0, output: 0 } },
  }
  const supervisor = { usable, leave: vi.fn() }
  const config = { mountPoint: '/nowhere', directory: '/nowhere' } as MountConfig
  const command = { file: '/nowhere/cairn', args: [] }
  const handing = handOver(supervisor as unknown as Supervisor, config, command)
  await expect(handing).rejects.toThrow('EBADF')
  expect(supervisor.leave).not.toHaveBeenCalled()
})
