import { describe, expect, it } from 'vitest'
import { stemsOf, StemReader } from './words.ts'

describe('stemsOf', () => {
  it.each([
    ['where do sessions expire', ['session', 'expir']],
    ['expiration of a session', ['expir', 'session']],
    ['TokenExpired', ['token', 'expir']],
    ['caches, cached; caching', ['cach']],
    ['the process of the processes', ['process']],
    ['what is this', ['what', 'is', 'this']],
    ['Größe der Straße', ['größe', 'der', 'straße']],
    ['utf8 x509', ['utf8', 'x509']],
    ['.*(+)', []],
    ['', []],
  ])('the stems of %j are %j', (question, stems) => {
    expect(stemsOf(question)).toEqual(stems)
  })

  it('takes each word once, and 16 at most', () => {
    const many = Array.from({ length: 40 }, (_, at) => `word${at}`)
    expect(stemsOf([...many, ...many].join(' '))).toEqual(many.slice(0, 16))
  })
})

describe('a match is a word', () => {
  const reader = new StemReader(['session'])
  it.each([
    ['session', true],
    ['Session', true],
    ['userSession', true],
    ['HTTPSession', true],
    ['user_session', true],
    ['user2session', true],
    ['obsession', false],
    ['OBSESSION', false],
    ['xsession', false],
  ])('in %s: %s', (text, isWord) => {
    const start = text.toLowerCase().indexOf('session')
    const read = reader.read(Buffer.from(text), { start, end: start + 7 })
    expect(read).toBe(isWord ? 0 : -1)
  })
})
