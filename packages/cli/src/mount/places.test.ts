import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { findSpool } from './places.ts'

const base = mkdtempSync(join(tmpdir(), 'cairn-places-'))
afterAll(() => rmSync(base, { recursive: true }))

const identity = {
  server: 'http://127.0.0.1:7070',
  workspace: 'website',
  branch: 'main',
  path: '/',
  readOnly: false,
  mountPoint: '/mnt/work',
}

it('a renamed workspace finds what a killed mount of it left, another one of that name does not', () => {
  const spool = findSpool(base, identity, 'ws_1')
  expect(findSpool(base, { ...identity, workspace: 'shop' }, 'ws_1')).toBe(spool)
  expect(findSpool(base, identity, 'ws_2')).not.toBe(spool)
})

it('what version 0.1 left under the name is found', () => {
  const byName = findSpool(base, identity, identity.workspace)
  mkdirSync(byName)
  expect(findSpool(base, identity, 'ws_1')).toBe(byName)
})
