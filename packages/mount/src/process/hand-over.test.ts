import { expect, it, vi } from 'vitest'
import type { MountConfig } from './config.ts'
import { handOver } from './hand-over.ts'
import type { Supervisor } from './supervisor.ts'

it('a supervisor that cannot be started: told, and nothing goes on without one', async () => {
  const daemon = { leave: () => ({ pid: 1, channel: 0, output: 0 }), kill: vi.fn() }
  const supervisor = { leave: () => ({ fd: 0, init: {}, daemon }) } as unknown as Supervisor
  const config = { mountPoint: '/nowhere', directory: '/nowhere' } as MountConfig
  const command = { file: '/nowhere/cairn', args: [] }
  await expect(handOver(supervisor, config, command)).rejects.toThrow('cannot start its supervisor')
  expect(daemon.kill).toHaveBeenCalledOnce()
})
