import { describe, expect, it } from 'vitest'
import { fail, ok, warn } from './check.ts'
import { checkPlace, type PlaceFacts } from './place.ts'
import { summarise } from './summary.ts'

const linux: PlaceFacts = {
  platform: 'linux',
  kernel: 'Linux version 6.12.1 (builder)',
  container: undefined,
  isE2b: false,
  files: new Set(),
}

describe('where it runs', () => {
  it.each([
    [{}, 'ok', 'Linux'],
    [{ files: new Set(['/.dockerenv']) }, 'ok', 'a container (docker)'],
    [{ files: new Set(['/run/.containerenv']) }, 'ok', 'a container (podman)'],
    [{ container: 'lxc' }, 'ok', 'a container (lxc)'],
    [{ isE2b: true }, 'ok', 'a sandbox of E2B, or one that speaks E2B'],
    [{ kernel: 'Linux version 5.15.90.1-microsoft-standard-WSL2' }, 'ok', 'WSL 2'],
    [{ kernel: 'Linux version 4.4.0-19041-Microsoft' }, 'fail', 'WSL 1, which has no FUSE'],
    [{ platform: 'darwin' }, 'fail', expect.stringContaining('need Linux')],
  ] as const)('%o: %s', (facts, state, says) => {
    expect(checkPlace({ ...linux, ...facts })).toMatchObject({ state, says })
  })
})

describe('the summary', () => {
  const fine = [ok('node', ''), ok('server', ''), ok('key', '')]

  it('names what works', () => {
    expect(summarise([...fine, warn('kernel', '', '')])).toEqual([
      'works: cairn serve, cairn fs, cairn mount',
    ])
  })

  it('names what does not, and because of which check', () => {
    expect(summarise([...fine, fail('device', '', '')])).toEqual([
      'works: cairn serve, cairn fs',
      'does not work: cairn mount (device)',
    ])
    expect(summarise([ok('node', ''), warn('server', 'none is known', '')])).toEqual([
      'works: cairn serve',
      'does not work: cairn fs (server), cairn mount (server)',
    ])
  })
})
