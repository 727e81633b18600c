import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { serve, type Serving } from '@cairn/server'
import { FragileDisk, whyNoFragileDisk, whyNoSmallDisk, withSmallDisk } from '@cairn/server/testing'
import { describe, expect, it } from 'vitest'
import { Witness } from './witness.ts'

const listen = '127.0.0.1:0'
const large = 200_000

describe.skipIf(whyNoSmallDisk)(`a server whose disk is full ${whyNoSmallDisk ?? ''}`, () => {
  it('says so, goes on reading, writes again once there is room, and has lost nothing', async () => {
    await withSmallDisk(24 << 20, async (disk) => {
      const filler = join(disk, 'filler')
      await writeFile(filler, new Uint8Array(8 << 20))
      const data = join(disk, 'data')
      const server = await serve({ data, listen })
      const witness = await Witness.of(server)
      try {
        const full = await witness.writeUntilRefused('large', large)
        expect(full).toMatchObject({ status: 507, code: 'storage_full' })
        expect(full.message).toMatch(/cannot write .*: the disk is full/)
        const small = await witness.writeUntilRefused('small', 1000)
        expect(small).toMatchObject({ status: 507, code: 'storage_full' })
        await witness.check()
        await rm(filler)
        expect(await witness.write('after', large)).toMatchObject({ status: 201 })
        expect(await witness.write('after, small', 100)).toMatchObject({ status: 201 })
        await witness.check()
      } finally {
        await server.close()
      }
      await checkAfterRestart(witness, data)
    })
  })
})

describe.skipIf(whyNoFragileDisk)(`a server whose disk fails ${whyNoFragileDisk ?? ''}`, () => {
  it('read-only: says so, goes on reading; fixed, a new start has everything', async () => {
    const disk = await FragileDisk.make(64)
    const data = join(disk.path, 'data')
    let server: Serving | undefined
    try {
      server = await serve({ data, listen })
      const witness = await Witness.of(server)
      for (let i = 0; i < 5; i++) {
        expect((await witness.write(`small-${i}`, 1000)).status).toBe(201)
        expect((await witness.write(`large-${i}`, large)).status).toBe(201)
      }
      await disk.fail()
      for (const bytes of [1000, large]) {
        const refused = await witness.write('refused', bytes)
        expect(refused).toMatchObject({ status: 503, code: 'storage_unavailable' })
        expect(refused.message).toContain(data)
      }
      await witness.check()
      await server.close()
      server = undefined
      await disk.fix()
      await checkAfterRestart(witness, data)
    } finally {
      await server?.close()
      await disk.remove()
    }
  })
})

async function checkAfterRestart(witness: Witness, data: string): Promise<void> {
  const server = await serve({ data, listen })
  try {
    witness.follow(server)
    await witness.check()
    expect((await witness.write('after the restart', 1000)).status).toBe(201)
  } finally {
    await server.close()
  }
}
