import type { ActorId } from '@cairn/protocol'
import { describe, expect, it } from 'vitest'
import type { Access } from '../access/access.ts'
import { Places } from './places.ts'

const access = (owner: string, token?: string): Access =>
  ({ owner, actor: (token ?? 'key') as ActorId, ...(token ? { scope: {} } : {}) }) as Access

describe('places for sessions', () => {
  it('one owner, token or address cannot take them all', () => {
    const places = new Places({ all: 6, owner: 4, token: 2, address: 3 }, 'sessions open')
    const free = [places.take(access('a', 't1'), '1'), places.take(access('a', 't1'), '1')]
    expect(places.take(access('a', 't1'), '1')).toContain('this token has 2 sessions')
    expect(places.take(access('a', 't2'), '1')).toBeTypeOf('function')
    expect(places.take(access('a', 't2'), '1')).toContain('this address has 3 sessions')
    expect(places.take(access('a'), '2')).toBeTypeOf('function')
    expect(places.take(access('a'), '2')).toContain('its owner has 4 sessions')
    expect(places.take(access('b'), '2')).toBeTypeOf('function')
    expect(places.take(access('c'), '3')).toBeTypeOf('function')
    expect(places.take(access('d'), '4')).toContain('this server has 6 sessions')
    const [first] = free as (() => void)[]
    first!()
    first!()
    expect(places.take(access('d'), '4')).toBeTypeOf('function')
    expect(places.take(access('d'), '4')).toBeTypeOf('string')
  })
})
